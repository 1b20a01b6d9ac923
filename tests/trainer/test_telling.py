"""How a run ended is on record and in its log, with what it had taken; of a member's own run no more than its code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from configs.home import Home
from memory.household import Household
from tests.trainer.household import small_settings
from trainer.costs import Cost
from trainer.energy.energy import Energy
from trainer.errors import NoRoom, StageTooCostly
from trainer.telling import tell_failed

COST = Cost(90.0, 30.0, Energy(2700.0, 0.0, ("rapl",)))


@pytest.mark.parametrize("own", [False, True])
def test_what_it_had_taken_is_told_before_its_end(home: Home, own: bool) -> None:
    told: list[tuple[str, Mapping[str, Any]]] = []
    with Household.open(home, small_settings(home).memory) as household:
        member = household.members.add("Ana", "en").id if own else None
        run = household.runs.create("private" if own else "lessons", member=member)
        error = StageTooCostly(stage="train", budget=0.5)
        tell_failed(household, run, error, lambda kind, _, facts: told.append((kind, facts)), COST)
        summary = household.runs.get(run.id).summary
    facts = {"code": "stage_too_costly", "facts": {"stage": "train", "budget": 0.5}}
    assert told == [("took", COST.as_json()), ("run_failed", facts)]
    assert summary == ({"code": "stage_too_costly"} if own else {**facts, "cost": COST.as_json()})


def test_a_full_disk_keeps_its_end_from_the_log_and_not_from_the_record(home: Home) -> None:
    def full(kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        raise NoRoom(path="events.jsonl", reason="No space left on device")

    with Household.open(home, small_settings(home).memory) as household:
        run = household.runs.create("lessons")
        tell_failed(household, run, StageTooCostly(stage="train", budget=0.5), full, COST)
        assert household.runs.get(run.id).state == "failed"
