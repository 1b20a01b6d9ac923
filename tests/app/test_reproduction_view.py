"""What is said of a training that was done again: that it is reproduced, or where it first differs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.commands.reproduction_view import watch_reproduction
from app.session import Session
from memory.runlog import RunEvent, append
from memory.runs import REPRODUCE, Run, State

TOLD: dict[str, Any] = {
    "reproduced": True,
    "first": "",
    "stages": {"prepare": True, "train": False},
    "measures": {"lessons_right": [1.0, 1.0], "unrelated_kl": [0.02, 0.021]},
    "otherwise": ["versions"],
}


def ended(session: Session, state: State, *events: RunEvent) -> Run:
    """A training that this process did again and told this of."""
    run = session.household.runs.create(REPRODUCE)
    folder = session.home.runs / run.id
    folder.mkdir()
    for event in events:
        append(folder, event)
    return session.household.runs.finish(run.id, state)


def test_what_is_reproduced_ends_in_that_word(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(session, "done", RunEvent(1.0, "run_done", facts=TOLD))
    assert watch_reproduction(session, run, as_json=False) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "reproduced"
    for told in ("0.021", "Not the same to the bit, which need not be: train", "which need not matter: versions"):
        assert told in out


def test_what_is_not_names_the_first_difference_and_fails(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    told = {**TOLD, "reproduced": False, "first": "train"}
    run = ended(session, "done", RunEvent(1.0, "run_done", facts=told))
    assert watch_reproduction(session, run, as_json=False) == 1
    assert "the first difference is in: train" in capsys.readouterr().out
    assert watch_reproduction(session, run, as_json=True) == 1
    assert json.loads(capsys.readouterr().out)["first"] == "train"


def test_one_that_broke_off_says_why(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"code": "run_stopped", "facts": {"run": "r0001"}}
    run = ended(session, "stopped", RunEvent(1.0, "run_failed", facts=facts))
    assert watch_reproduction(session, run, as_json=False) == 1
    assert "was stopped because somebody asked for it" in capsys.readouterr().err
