"""A held training answers all the same, because somebody says so by name: it is put on record wherever its verdict is.

It is what the gate judged, to the bit, and nothing else: where its lessons, its base or its file are not the same any
more, it has to be trained again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import yaml

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.runs import LESSONS, PRIVATE, Run, run_folder
from trainer.completing import tell_override
from trainer.errors import HeldRunChanged, RunNotHeld
from trainer.gate import Override, verdict_from_json
from trainer.learning import FamilyLearning, Learning
from trainer.pipeline.artifacts import digest_of
from trainer.private import PrivateLearning
from trainer.run_files import RunFiles, read_inputs
from trainer.telling import leave_reports


def ship_held(
    home: Home, settings: Settings, household: Household, run_id: str, who: str, why: str, clock: Callable[[], float]
) -> str:
    """Have what run ``run_id`` trained answer, on the word of ``who``; the name of what answers then.

    Raises RunUnknown, RunNotHeld, HeldRunChanged, SwapRefused, NoRoom, and what the store raises.
    """
    run = household.runs.get(run_id)
    if run.kind not in (LESSONS, PRIVATE) or run.state != "held":
        raise RunNotHeld(run=run.id)
    learning: Learning = FamilyLearning(home, settings, household)
    if run.member is not None:
        learning = PrivateLearning(home, settings, household, run.member)
    files = RunFiles(run_folder(home, run))
    _check_as_judged(household, run, files, learning)
    override = Override(who, why, clock())
    verdict = replace(verdict_from_json(run.summary["gate"]), override=override)
    summary = {**run.summary, "gate": verdict.as_json()}

    def on_record(made: str) -> None:
        household.runs.overrule(run.id, made, summary)

    snapshot = learning.promote(read_inputs(files), files.adapter, verdict, who, on_record)
    # Killed before this, the next training finds it missing.
    tell_override(files, household.runs.get(run.id))
    leave_reports(home, household, (run.id,), settings.training.budget.report_seconds)
    return snapshot


def _check_as_judged(household: Household, run: Run, files: RunFiles, learning: Learning) -> None:
    """Raises HeldRunChanged where not everything is as it was judged."""
    changed = HeldRunChanged(run=run.id)
    # Whatever was taken of a withdrawn lesson does not come back with it, and the weights went first of all.
    if learning.taken_back(run.id) or not (files.adapter.is_file() and files.manifest.is_file()):
        raise changed
    manifest: dict[str, object] = yaml.safe_load(files.manifest.read_text(encoding="utf-8"))
    made = manifest["artifacts"]
    name = str(files.adapter.relative_to(files.folder))
    if not isinstance(made, dict) or made.get(name) != digest_of(files.adapter):
        raise changed
    inputs = read_inputs(files)
    if household.snapshots.current().base_sha256 != inputs.base_sha256:
        raise changed
