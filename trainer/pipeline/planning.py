"""A plan: the manifest of a run that has not begun, what each stage will take, and what speaks against it.

Nothing is changed by it, and neither torch nor llama.cpp is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.made import Made
from memory.runs import LESSONS, Run
from trainer.beginning import gathered, start_of
from trainer.errors import GraphCyclic, InputMismatch, InputMissing, RecipeKeyUnknown
from trainer.manifest import identity, planned
from trainer.pipeline.estimate import Estimate, estimates, shown_here
from trainer.pipeline.kept import known_outputs
from trainer.pipeline.recipe_file import WrittenRecipe, read_recipe
from trainer.pipeline.resolving import Resolved, is_manifest, read_manifest, resolved
from trainer.pipeline.review import Reason, over_budget, reasons_against
from trainer.pipeline.sources import graph_for

MOST_LOOKED_AT: Final = 10_000  # runs
# With one of these there is no graph.
WIRING: Final = frozenset(each.code for each in (RecipeKeyUnknown, InputMissing, InputMismatch, GraphCyclic))


@dataclass(frozen=True)
class Plan:
    """``known``: the stages whose results are there already. ``done``: the run that came to a verdict on the same."""

    manifest: Mapping[str, Any]
    estimates: Mapping[str, Estimate]
    reasons: tuple[Reason, ...]
    known: Mapping[str, Made]
    done: Run | None

    def as_json(self) -> dict[str, Any]:
        """For whoever shows it."""
        return {
            "manifest": dict(self.manifest),
            "identity": identity(self.manifest),
            "estimates": {name: each.as_json() for name, each in self.estimates.items()},
            "reasons": [reason.as_json() for reason in self.reasons],
            "known": {name: made.run for name, made in self.known.items()},
            "done": self.done and {"run": self.done.id, "state": self.done.state, "snapshot": self.done.snapshot},
        }


def plan_recipe(home: Home, settings: Settings, household: Household, recipe: WrittenRecipe) -> Plan:
    """What a training by this recipe would be now; ``settings``: the household's own.

    Raises RecipeUnknown, NothingToLearn, NothingLeft, BaseReplaced, ModelMissing, ModelBroken, NotTrainable,
    ShapeNotTrainable, ArtifactMissing.
    """
    run = household.runs.upcoming(LESSONS)
    inputs = gathered(home, recipe.settings, household, run, recipe.recipe, recipe.stages)
    found = Resolved(planned(inputs), recipe.settings, recipe.stages, inputs, ())
    return _plan(settings, household, found, recipe.recipe)


def plan_manifest(home: Home, settings: Settings, household: Household, path: Path, environ: Mapping[str, str]) -> Plan:
    """What a manifest asks for, held against this home.

    Raises RecipeKeyUnknown, SettingWrong and what ``read_manifest``, reading settings and ``start_of`` raise.
    """
    found = resolve_manifest(home, settings, household, path, environ, household.runs.upcoming(LESSONS).id)
    return _plan(settings, household, found, str(path))


def plan_file(home: Home, settings: Settings, household: Household, path: Path, environ: Mapping[str, str]) -> Plan:
    """What a recipe's file, or a manifest, asks for. Raises what ``plan_recipe`` and ``plan_manifest`` do."""
    if is_manifest(path):
        return plan_manifest(home, settings, household, path, environ)
    return plan_recipe(home, settings, household, read_recipe(path, home, environ))


def resolve_manifest(
    home: Home, settings: Settings, household: Household, path: Path, environ: Mapping[str, str], run: str
) -> Resolved:
    """A manifest's file and what of it is here. Raises what ``plan_manifest`` does."""
    manifest = read_manifest(path)
    if not household.snapshots.list():
        # A new home: what answers is the base.
        start_of(home, settings, household)
    return resolved(manifest, str(path), home, household, environ, run)


def done_before(household: Household, asked: str) -> Run | None:
    """The run that came to a verdict on what a manifest with this identity asks for."""
    for run in household.runs.list(limit=MOST_LOOKED_AT):
        if asked in run.summary.get("manifests", ()):
            return run
    return None


def _plan(settings: Settings, household: Household, found: Resolved, file: str) -> Plan:
    reckoned: Mapping[str, Estimate] = {}
    known: Mapping[str, Made] = {}
    if found.inputs is not None:
        reckoned = estimates(found.inputs, shown_here(household, found.inputs))
    done = done_before(household, identity(found.manifest))
    reasons = reasons_against(found, file, settings.training)
    if found.inputs is not None and WIRING.isdisjoint(reason.code for reason in reasons):
        known = known_outputs(graph_for(found.inputs), found.inputs, household.made)
    left = [each for name, each in reckoned.items() if name not in known]
    reasons += over_budget(left, found.settings.training.budget)
    return Plan(found.manifest, reckoned, tuple(reasons), known, done)
