"""A held training answers all the same, because somebody says so by name: it is put on record wherever its verdict is.

It is what the gate judged, to the bit, and nothing else: where its lessons, its base or its file are not the same any
more, it has to be trained again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import yaml

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.runs import LESSONS, PRIVATE, Run, run_folder
from trainer.errors import HeldRunChanged, RunNotHeld
from trainer.gate import Override, verdict_from_json
from trainer.learning import FamilyLearning, Learning
from trainer.manifest import as_yaml
from trainer.pipeline.artifacts import digest_of
from trainer.private import PrivateLearning
from trainer.run_files import RunFiles, read_inputs, write_whole
from trainer.telling import leave_reports, tell


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
    manifest = _as_judged(household, run, files, learning)
    override = Override(who, why, clock())
    verdict = replace(verdict_from_json(run.summary["gate"]), override=override)
    summary = {**run.summary, "gate": verdict.as_json()}

    def on_record(made: str) -> None:
        household.runs.overrule(run.id, made, summary)

    snapshot = learning.promote(read_inputs(files), files.adapter, verdict, who, on_record)
    manifest |= {"verdict": verdict.as_json(), "snapshot": snapshot}
    write_whole(files.manifest, as_yaml(manifest).encode())
    tell(files.folder, override.at, "overridden", None, {**asdict(override), "snapshot": snapshot})
    leave_reports(home, household, (run.id,), settings.training.budget.report_seconds)
    return snapshot


def _as_judged(household: Household, run: Run, files: RunFiles, learning: Learning) -> dict[str, object]:
    """The run's manifest, where everything is as it was judged. Raises HeldRunChanged."""
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
    return manifest
