"""The numbers that last worked for a base, by which the next training begins."""

from __future__ import annotations

from typing import Any

from configs.sections.training import RecipeSettings
from memory.runs import Run, Runs
from trainer.run_files import Inputs
from trainer.searching.choice import Choice

WORKED = "worked"  # in the summary of a run that the gate let pass


def last_worked(runs: Runs, run: Run, inputs: Inputs) -> Choice | None:
    """The numbers of the last run before ``run`` that the gate let pass, of its kind and for the same; None for none.

    Only over the same base, by the same recipe, and where that recipe still has the numbers that it had: whoever has
    set others since means them.
    """
    for earlier in runs.shipped_before(run):
        told = earlier.summary.get(WORKED, {})
        if {key: value for key, value in told.items() if key != "choice"} == _beginning(inputs):
            return Choice(**told["choice"])
    return None


def what_worked(inputs: Inputs) -> dict[str, Any]:
    """For the summary of a run that the gate let pass; ``last_worked`` finds it."""
    return {WORKED: {**_beginning(inputs), "choice": Choice.of(inputs.recipe).as_json()}}


def _beginning(inputs: Inputs) -> dict[str, Any]:
    recipe: RecipeSettings = inputs.training.recipes[inputs.recipe_name]
    return {"base": inputs.base_sha256, "recipe": inputs.recipe_name, "from": Choice.of(recipe).as_json()}
