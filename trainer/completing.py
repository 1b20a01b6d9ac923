"""Runs that came to their verdict and no further: killed in that moment, or without room on the disk.

Their record in the database is whole, and says what their files are missing.
"""

from __future__ import annotations

import contextlib

import yaml

from configs.home import Home
from memory import runlog
from memory.household import Household
from memory.runs import Run, run_folder
from trainer.errors import TrainerError
from trainer.gate import verdict_from_json
from trainer.manifest import as_yaml, write_manifest
from trainer.room import write_whole
from trainer.run_files import RunFiles, read_inputs, read_measures
from trainer.telling import tell


def complete_manifests(home: Home, household: Household, run: Run) -> tuple[str, ...]:
    """Write what is missing of the runs before ``run``, of its kind and for the same; those runs.

    None where something of such a run is gone by now, or there is no room still.
    """
    completed = []
    for earlier in household.runs.list(run.member):
        if (earlier.kind, earlier.member) != (run.kind, run.member) or earlier.state not in ("shipped", "held"):
            continue
        with contextlib.suppress(TrainerError):
            if _complete(RunFiles(run_folder(home, earlier)), earlier):
                completed.append(earlier.id)
    return tuple(completed)


def _complete(files: RunFiles, run: Run) -> bool:
    """Whether anything was missing. Raises TrainerError."""
    if not files.inputs.is_file():
        return False
    if files.manifest.is_file():
        return "override" in run.summary["gate"] and tell_override(files, run)
    verdict = verdict_from_json(run.summary["gate"])
    write_manifest(files, read_inputs(files), *read_measures(files), verdict, run.snapshot)
    return True


def tell_override(files: RunFiles, run: Run) -> bool:
    """Say in a run's log, and then in its manifest, on whose word it answers, as it is on record; whether that was
    missing. Raises NoRoom.
    """
    manifest, gate = yaml.safe_load(files.manifest.read_text(encoding="utf-8")), run.summary["gate"]
    if manifest["verdict"] == gate:
        return False
    override = gate["override"]
    if not any(event.kind == "overridden" for event in runlog.read(files.folder)[0]):
        tell(files.folder, override["at"], "overridden", None, {**override, "snapshot": run.snapshot})
    write_whole(files.manifest, as_yaml({**manifest, "verdict": gate, "snapshot": run.snapshot}).encode())
    return True
