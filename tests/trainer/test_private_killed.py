"""A member's own training that is killed between the two files that tell what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import yaml

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.members import Member
from memory.numbered import number_in
from memory.processes import own_identity
from memory.runs import PRIVATE, Run, Runs, run_folder
from tests.trainer.household import small_settings
from tests.trainer.test_gate import GOOD
from tests.trainer.test_private_run import SECRET, concluded, learn
from trainer.completing import complete_manifests
from trainer.night.members import is_due
from trainer.overriding import ship_held
from trainer.run_files import RunFiles


@pytest.fixture
def settings(home: Home) -> Settings:
    return small_settings(home)


@pytest.fixture
def household(home: Home, settings: Settings) -> Iterator[Household]:
    with Household.open(home, settings.memory) as opened:
        yield opened


@pytest.fixture
def ana(household: Household) -> Member:
    """Who wants a training of her own, and has something to learn."""
    member = household.members.set_private_training(household.members.add("Ana", "en").id, True)
    learn(household, member, SECRET)
    return member


class Killed(BaseException):
    """What comes after it does not happen."""


def test_one_killed_between_the_members_file_and_the_households_record_has_shipped_for_whoever_looks_next(
    home: Home, household: Household, settings: Settings, ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(Runs, "finish", killed)
    with pytest.raises(Killed):
        concluded(household, settings, GOOD, "Ana")
    monkeypatch.undo()
    (run,) = household.runs.list(ana.id)
    record = household.member(ana.id).private.current()
    assert record is not None
    # Whoever looks while it is still being carried leaves it to whoever does.
    with Household.open(home, settings.memory) as beside:
        beside.member(ana.id)
        assert beside.runs.get(run.id).state == "running"
    carried_by_one_that_died(household, run)
    assert household.runs.get(run.id).state == "stopped"
    with Household.open(home, settings.memory) as after:
        after.member(ana.id)
        found = after.runs.get(run.id)
        assert (found.state, found.snapshot, found.ended_at) == ("shipped", "p1", record.created_at)
        assert found.summary == {"recipe": "family", "gate": record.gate}
        # Its lessons were trained, so that no night trains them again.
        night = settings.training.night.model_copy(update={"private_pairs": 1})
        assert not is_due(after, ana.id, night, time.time())
        assert complete_manifests(home, after, after.runs.upcoming(PRIVATE, ana.id)) == (run.id,)
        manifest = yaml.safe_load(RunFiles(run_folder(home, run)).manifest.read_text())
        assert (manifest["snapshot"], manifest["verdict"]["decision"]) == ("p1", "SHIP")


def test_one_whose_shipping_was_cut_off_there_has_shipped_on_the_word_that_was_given(
    home: Home, household: Household, settings: Settings, ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = concluded(household, settings, {**GOOD, "lessons_kept": 0.0}, "Ana")

    def killed(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(Runs, "overrule", killed)
    with pytest.raises(Killed):
        ship_held(home, settings, household, held.run, "Ana", "They are right.", lambda: 9.0)
    monkeypatch.undo()
    assert household.runs.get(held.run).state == "held"
    with Household.open(home, settings.memory) as after:
        assert after.member(ana.id).private.current() is not None
        found = after.runs.get(held.run)
        assert (found.state, found.snapshot) == ("shipped", "p1")
        assert found.summary["gate"]["override"] == {"who": "Ana", "why": "They are right.", "at": 9.0}
        assert found.summary["recipe"] == "family"


def carried_by_one_that_died(household: Household, run: Run) -> None:
    boot, pid, started = own_identity().split(":")
    dead = f"{boot}:{pid}:{int(started) + 1}"
    household._family.run("UPDATE runs SET process = ? WHERE number = ?", (dead, number_in(run.id, "r")))
