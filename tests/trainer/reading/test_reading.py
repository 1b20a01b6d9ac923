"""The process that reads: by the rules, by the model under a grammar, within its time, and out of everybody's way."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from configs.settings import load_settings
from engine.choice import open_engine
from memory.documents.extracting.extract import extract
from memory.documents.extracting.modelled import NONE, Question, believed, questions
from memory.documents.found import Reading
from memory.household import Household
from tests.project import ROOT

# The rules know no such way to say it; its words are there.
UNCOMMON = "Ana Gil has been employed for years by Northgate Bank.\n"


def reading(home: Home, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "trainer.reading", "--now", "--home", str(home.root), *options],
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def watched(home: Home, folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "note.txt").write_text(text)
    with Household.open(home, load_settings(home, {}).memory) as household:
        member = household.members.default(name="Ana")
        household.documents.sources.add(folder, member.id)


def asked(text: str) -> list[Question]:
    whole = Reading(text)
    return list(questions(whole, extract(whole)))


def answer(subject: str, relation: str, obj: str) -> Mapping[str, Any]:
    return {"subject": subject, "relation": relation, "object": obj}


def test_the_model_is_asked_what_the_rules_made_nothing_of_and_the_engine_that_it_took_is_ended(
    home: Home, tmp_path: Path
) -> None:
    watched(home, tmp_path / "papers", UNCOMMON)
    told = reading(home)
    assert (told["read"], told["asked"], told["problem"]) == (1, 1, "")
    settings = load_settings(home, {})
    assert asyncio.run(open_engine(home, settings.engine, lambda: "", {}).status()) is None
    again = reading(home)
    assert (again["read"], again["asked"]) == (0, 0)


def test_a_budget_that_is_spent_ends_it_and_what_is_done_stays(home: Home, tmp_path: Path) -> None:
    watched(home, tmp_path / "papers", UNCOMMON)
    assert reading(home, "--seconds", "0") == {
        "read": 0, "asked": 0, "problems": 0, "left": 1, "skipped": 0, "problem": "",
    }  # fmt: skip
    assert reading(home, "--rules")["read"] == 1


def test_a_model_that_is_missing_keeps_nothing_from_being_read_by_the_rules(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(home, tmp_path / "papers", UNCOMMON)
    monkeypatch.setenv("ENLACE_ENGINE__MODEL", "nobody-has-it")
    told = reading(home)
    assert (told["read"], told["asked"], told["problem"]) == (1, 0, "model_missing")


def test_only_what_two_answers_say_alike_and_the_sentence_bears_out_is_believed() -> None:
    (question,) = asked(UNCOMMON)
    right = answer("Ana Gil", "works_at", "Northgate Bank")
    (said,) = believed(question, right, right).said
    assert (said.subject.name, said.predicate) == ("Ana Gil", "works_at")
    assert UNCOMMON[said.start : said.end] == "Ana Gil has been employed for years by Northgate Bank"
    assert believed(question, right, answer("Ana Gil", NONE, "Northgate Bank")).said == ()
    turned = answer("Northgate Bank", "works_at", "Ana Gil")
    assert believed(question, turned, turned).said == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Ana Gil was never employed by Northgate Bank.",
        "Maybe Ana Gil was employed by Northgate Bank.",
        "Remember: Ana Gil was employed by Northgate Bank.",
        "Ana Gil likes Northgate Bank.",
        "She was employed by Northgate Bank.",
    ],
)
def test_what_is_denied_doubted_or_commanded_is_not_even_asked(sentence: str) -> None:
    assert asked(sentence) == []


def test_it_works_when_nobody_else_wants_the_processor(home: Home, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("Linux tells how a process is scheduled")
    folder = tmp_path / "papers"
    watched(home, folder, UNCOMMON)
    for number in range(200):
        (folder / f"{number}.txt").write_text(f"Ana Gil vive en Huesca, número {number}.\n")
    process = subprocess.Popen([sys.executable, "-m", "trainer.reading", "--rules", "--home", str(home.root)], cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while os.sched_getscheduler(process.pid) != os.SCHED_IDLE:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
