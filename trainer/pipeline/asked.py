"""A run that a manifest asks for: reviewed first, then carried as any other; one that was done is not done again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.runs import LESSONS
from trainer.beginning import put_on_record
from trainer.courtesy import stop_on_signals
from trainer.errors import ManifestRefused
from trainer.learning import FamilyLearning
from trainer.pipeline.planning import Plan, plan_manifest, resolve_manifest
from trainer.pipeline.resolving import check_fresh
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.supervisor import Outcome, Supervisor


class AskedLearning(FamilyLearning):
    """The shared lessons that a manifest names, trained for everybody as it says."""

    def __init__(
        self, home: Home, settings: Settings, household: Household, path: Path, environ: Mapping[str, str]
    ) -> None:
        super().__init__(home, settings, household)
        self._path = path
        self._environ = environ

    def begin(self, run: str, recipe: str, files: RunFiles) -> Inputs:
        """Raises ManifestStale and what ``resolve_manifest`` does, NoRoom."""
        found = resolve_manifest(self._home, self._settings, self._household, self._path, self._environ, run)
        inputs = check_fresh(found, str(self._path))
        put_on_record(self._household, inputs)
        write_json(files.inputs, inputs.as_json())
        return inputs


def carry_manifest(
    home: Home, settings: Settings, path: Path, who: str, environ: Mapping[str, str]
) -> tuple[Outcome, bool]:
    """A whole run in this process, stopped by SIGTERM or SIGINT; where one did the same before, what became of that.

    And whether anything was done. Raises ManifestRefused and what ``plan_manifest`` and ``Supervisor.run`` do.
    """
    with Household.open(home, settings.memory, unattended=True) as household:
        plan = plan_manifest(home, settings, household, path, environ)
        if plan.done is not None:
            decision = "SHIP" if plan.done.state == "shipped" else "HOLD"
            return Outcome(plan.done.id, decision, plan.done.snapshot), False
        check_passed(plan, path)
        found = resolve_manifest(home, settings, household, path, environ, household.runs.upcoming(LESSONS).id)
        learning = AskedLearning(home, found.settings, household, path, environ)
        supervisor = Supervisor(home, found.settings, household, learning, time.time)
        stop_on_signals(supervisor.stop)
        return supervisor.run(str(plan.manifest["recipe"]["name"]), who), True


def check_passed(plan: Plan, path: Path) -> None:
    """Raises ManifestRefused where the reviewer has a reason against it."""
    if plan.reasons:
        raise ManifestRefused(file=str(path), reasons=", ".join(dict.fromkeys(each.code for each in plan.reasons)))
