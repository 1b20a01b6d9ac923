"""The night's first phase: documents are read once in a night, before the training, with the marker held."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household
from tests.trainer.household import small_settings
from tests.trainer.night.test_hours import shown
from tests.trainer.night.test_scheduler import ANY_TIME
from trainer.night.conditions import Reason
from trainer.night.documents import DocumentsPhase
from trainer.night.scheduler import Scheduler
from trainer.night.stopping import Stopping

LETTER = "Ana Gil lives in York.\n"


@pytest.fixture
def papers(home: Home, tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "letter.txt").write_text(LETTER)
    with Household.open(home, load_settings(home, {}).memory) as household:
        member = household.members.default(name="Ana")
        household.member(member.id).papers.shelf.sources.add(folder, member.id)
    return folder


@pytest.fixture
def stopping() -> Iterator[Stopping]:
    made = Stopping()
    yield made
    made.close()


def look(home: Home, stopping: Stopping, now: float, **night: object) -> list[tuple[str, Mapping[str, Any]]]:
    small_settings(home, {"night": {**ANY_TIME, "pairs": 50, "retry_longest_seconds": 57600, **night}})
    heard: list[tuple[str, Mapping[str, Any]]] = []
    environ = {"ENLACE_MEMORY__DOCUMENTS__MODEL": "false"}
    Scheduler(home, environ, stopping, lambda kind, facts: heard.append((kind, facts)), clock=lambda: now).look()
    return heard


def test_documents_are_read_once_in_a_night_also_where_no_training_is_due(
    home: Home, papers: Path, stopping: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENLACE_MEMORY__DOCUMENTS__MODEL", "false")
    tonight = shown("2026-01-11 23:30")
    heard = look(home, stopping, tonight)
    assert [kind for kind, _ in heard] == ["begins_documents", "documents_read"]
    assert (heard[1][1]["read"], heard[1][1]["left"]) == (1, 0)
    (papers / "other.txt").write_text(LETTER.replace("York", "Bath"))
    assert [kind for kind, _ in look(home, stopping, tonight + 3600)] == ["waiting"]
    again = look(home, stopping, tonight + 24 * 3600)
    assert again[1][1]["read"] == 1
    with Household.open(home, load_settings(home, {}).memory) as household:
        member = household.members.default()
        assert len(household.member(member.id).papers.graph.nodes()) == 4


def test_by_day_nothing_is_read_and_nothing_where_nobody_added_anything(
    home: Home, papers: Path, settings: Settings, tmp_path: Path
) -> None:
    night = settings.training.night
    with Household.open(home, settings.memory) as household:
        phase = DocumentsPhase(home, night, household, lambda: 1000.0)
        assert phase.due((Reason("few_pairs"),))
        assert not phase.due((Reason("few_pairs"), Reason("not_quiet")))
        assert not phase.due((Reason("paused", {"who": "Ana"}),))
        member = household.members.default()
        household.member(member.id).papers.shelf.unwatch(papers)
        assert not phase.due(())


def test_one_that_was_killed_is_gone_on_with_sooner_than_one_that_ended(
    home: Home, papers: Path, settings: Settings
) -> None:
    now = 1_000_000.0
    with Household.open(home, settings.memory) as household:
        phase = DocumentsPhase(home, settings.training.night, household, lambda: now)
        phase.note_begun()
        assert not phase.due(())
        now += settings.training.night.retry_seconds
        assert phase.due(())
        phase.note_ended()
        now += settings.training.night.retry_seconds
        assert not phase.due(())
        now -= 10 * 24 * 3600
        assert phase.due(())
        (home.night / "documents.json").write_text(json.dumps([]))
        assert phase.due(())
