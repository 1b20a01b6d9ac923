"""The numbers of a recipe that are searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.training import RecipeSettings
from configs.settings import load_settings
from tests.trainer.stages import inputs_for
from trainer.run_files import inputs_from_json
from trainer.searching.choice import Choice


@pytest.fixture
def recipe(home: Home) -> RecipeSettings:
    return load_settings(home, {}).training.recipes["family"]


def test_a_recipe_with_its_own_numbers_is_the_same(recipe: RecipeSettings) -> None:
    assert Choice.of(recipe).put_in(recipe) == recipe


def test_other_numbers_change_nothing_but_what_hangs_together_with_them(recipe: RecipeSettings) -> None:
    choice = Choice(1e-5, recipe.optimiser.epochs // 2, recipe.lora.rank * 4)
    other = choice.put_in(recipe)
    assert Choice.of(other) == choice
    # Half the epochs are half the steps, also where the fewest steps decide; and the adapter is as strong.
    assert other.optimiser.least_steps == recipe.optimiser.least_steps // 2
    assert other.lora.alpha / other.lora.rank == recipe.lora.alpha / recipe.lora.rank
    assert Choice.of(recipe).put_in(other) == recipe


def test_a_run_is_by_its_choice_or_else_by_the_recipe_of_the_settings(home: Home, starter: Path) -> None:
    plain, chosen = inputs_for(home, starter, {}), inputs_for(home, starter, {}, choice=Choice(1e-5, 3, 4))
    assert plain.recipe == plain.training.recipes["family"]
    assert Choice.of(chosen.recipe) == chosen.choice
    assert [inputs_from_json(each.as_json()) for each in (plain, chosen)] == [plain, chosen]
