"""A run that ran out of what it may take goes on where it was, also with more to take, and else from the same alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from memory.household import Household
from tests.trainer.household import small_settings
from tests.trainer.stages import inputs_for
from trainer.run_files import RunFiles, write_json
from trainer.taking_up import take_up


@pytest.mark.parametrize(
    ("code", "changed", "taken"),
    [
        ("stage_too_costly", {"budget": {"run_watt_hours": 5000}}, True),
        ("rest_too_long", {"budget": {"run_seconds": 9000}, "night": {"pairs": 9}}, True),
        ("stage_over_budget", {"recipes": {"family": {"batch": 5}}}, False),
        ("parity_broken", {}, False),
    ],
)
def test_it_is_taken_up(home: Home, starter: Path, code: str, changed: dict[str, Any], taken: bool) -> None:
    with Household.open(home, small_settings(home).memory) as household:
        left = household.runs.create("lessons")
        begun = RunFiles(home.runs / left.id)
        write_json(begun.inputs, inputs_for(home, starter, {}).as_json())
        write_json(begun.report("prepare"), {"seconds": 1.0})
        household.runs.finish(left.id, "failed", summary={"code": code})
        run = household.runs.create("lessons")
        files = RunFiles(home.runs / run.id)
        write_json(files.inputs, inputs_for(home, starter, changed).as_json())
        assert take_up(household.runs, run, files) == (left.id if taken else None)
        assert files.report("prepare").is_file() is taken
