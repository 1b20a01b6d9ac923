"""The next training begins by the numbers that last worked, where they are for the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from memory.household import Household
from memory.runs import LESSONS, PRIVATE
from tests.trainer.household import small_settings, teach
from tests.trainer.stages import inputs_for
from trainer.beginning import begin
from trainer.run_files import Inputs, RunFiles, read_inputs
from trainer.searching.choice import Choice
from trainer.searching.worked import last_worked, what_worked

FOUND = Choice(1e-5, 3, 4)


@pytest.fixture
def household(home: Home) -> Iterator[Household]:
    settings = small_settings(home, {"search": {"seconds": 60}})
    teach(home, settings)
    with Household.open(home, settings.memory) as opened:
        yield opened


def ended(household: Household, inputs: Inputs, state: Any = "shipped", **of: Any) -> None:
    run = household.runs.create(of.pop("kind", LESSONS), **of)
    household.runs.finish(run.id, state, summary={"recipe": inputs.recipe_name, **what_worked(inputs)})


def next_one(household: Household, inputs: Inputs, **of: Any) -> Choice | None:
    run = household.runs.create(of.pop("kind", LESSONS), **of)
    try:
        return last_worked(household.runs, run, inputs)
    finally:
        household.runs.finish(run.id, "failed")


def test_the_numbers_of_the_last_one_that_passed_are_the_first_of_the_next(
    home: Home, household: Household, starter: Path
) -> None:
    plain = inputs_for(home, starter, {})
    assert next_one(household, plain) is None
    ended(household, replace(plain, choice=Choice(2e-5, 3, 4)))
    ended(household, replace(plain, choice=FOUND))
    ended(household, replace(plain, choice=Choice(3e-5, 3, 4)), "held")
    assert next_one(household, plain) == FOUND
    # By numbers that last worked it works again, and so on.
    ended(household, replace(plain, choice=FOUND))
    assert next_one(household, plain) == FOUND


def test_they_are_not_for_another_base_or_recipe_or_for_other_numbers_of_it(
    home: Home, household: Household, starter: Path
) -> None:
    plain = inputs_for(home, starter, {})
    ended(household, replace(plain, choice=FOUND))
    assert next_one(household, replace(plain, base_sha256="1" * 64)) is None
    assert next_one(household, replace(plain, recipe_name="dpo")) is None
    set_since = {"recipes": {"family": {"optimiser": {"learning_rate": 2e-4}}}}
    assert next_one(household, inputs_for(home, starter, set_since)) is None
    assert next_one(household, plain) == FOUND


def test_a_member_and_the_family_have_each_their_own(home: Home, household: Household, starter: Path) -> None:
    plain = inputs_for(home, starter, {})
    ana, luis = (household.members.add(name, "en").id for name in ("Anabel", "Luis"))
    ended(household, replace(plain, choice=FOUND), kind=PRIVATE, member=ana)
    assert next_one(household, plain) is None
    assert next_one(household, plain, kind=PRIVATE, member=luis) is None
    assert next_one(household, plain, kind=PRIVATE, member=ana) == FOUND


@pytest.mark.parametrize(("seconds", "begins_by"), [(60, FOUND), (0, None)])
def test_a_run_begins_by_them_unless_the_search_is_off(
    home: Home, household: Household, seconds: float, begins_by: Choice | None
) -> None:
    settings = small_settings(home, {"search": {"seconds": seconds}})

    def begun() -> Inputs:
        run = household.runs.create(LESSONS)
        (home.runs / run.id).mkdir()
        files = RunFiles(home.runs / run.id)
        inputs = begin(home, settings, household, run.id, "family", files)
        assert read_inputs(files) == inputs
        passed = replace(inputs, choice=FOUND)
        household.runs.finish(run.id, "shipped", summary=what_worked(passed))
        return inputs

    assert [begun().choice, begun().choice] == [None, begins_by]
