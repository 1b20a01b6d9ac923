"""``enlace train gate``: what was decided, and who may have it otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.session import Session
from memory.runs import Run, State
from tests.app.conftest import Run as RunCommand

CHECKS = [
    {"name": "known_kept", "value": 0.36, "bound": 0.9, "at_least": True, "ok": False, "low": 0.22, "high": 0.54,
     "samples": 22, "decided": True},
    {"name": "forms_kept", "value": 0.86, "bound": 0.7, "at_least": True, "ok": True, "low": 0.65, "high": 0.95,
     "samples": 14, "decided": False},
]  # fmt: skip
HOLD: dict[str, Any] = {"decision": "HOLD", "checks": CHECKS, "reasons": ["known_kept", "parity_kl_missing"]}


def judged(session: Session, state: State, gate: dict[str, Any]) -> Run:
    """A run that came to this verdict."""
    runs = session.household.runs
    run = runs.create("lessons")
    return runs.finish(run.id, state, snapshot="v1" if state == "shipped" else None, summary={"gate": gate})


def test_a_held_training_is_told_with_its_numbers_and_how_sure_they_are(here: RunCommand, session: Session) -> None:
    run = judged(session, "held", HOLD)
    for told in (here("train", "gate"), here("train", "gate", run.id)):
        assert told.code == 3
        assert "0.22–0.54" in told.out
        assert "yes (undecided)" in told.out
        assert "HOLD: Known answers that it keeps; Difference when served (nats) (not measured)" in told.out
        assert f"enlace train gate {run.id} --ship" in told.out
    said = json.loads(here("train", "gate", "--json").out)
    assert (said["run"], said["state"], said["reasons"]) == (run.id, "held", HOLD["reasons"])


def test_what_was_overridden_says_who_did_and_why(here: RunCommand, session: Session) -> None:
    override = {"who": "Ana", "why": "They are \x1b[31mfine.", "at": 0.0}
    judged(session, "shipped", {**HOLD, "override": override})
    told = here("train", "gate")
    assert told.code == 0
    assert "It answers all the same: Ana said so on 19" in told.out
    assert "because: They are fine." in told.out


def test_only_whoever_administers_overrides_and_says_why(here: RunCommand, session: Session) -> None:
    run = judged(session, "held", HOLD)
    session.household.members.default(name="Ana")
    session.household.members.add("Luis", "en")
    refused = here("train", "gate", run.id, "--ship", "--why", "I like it", "--member", "Luis")
    assert (refused.code, "Luis does not administer" in refused.err) == (1, True)
    silent = here("train", "gate", run.id, "--ship", "--why", "  ")
    assert (silent.code, "--why" in silent.err) == (2, True)
    assert session.household.runs.get(run.id).state == "held"


def test_a_training_that_shipped_cannot_be_overridden(here: RunCommand, session: Session) -> None:
    run = judged(session, "shipped", {"decision": "SHIP", "checks": [], "reasons": []})
    refused = here("train", "gate", run.id, "--ship", "--why", "once more")
    assert (refused.code, f"{run.id} is no training that the gate held" in refused.err) == (2, True)


@pytest.mark.parametrize("what", [[], ["r0009"]])
def test_where_nothing_was_judged_that_is_said(here: RunCommand, what: list[str]) -> None:
    told = here("train", "gate", *what)
    assert told.code in (1, 2)
    assert told.err.strip()
    assert "Traceback" not in told.err
