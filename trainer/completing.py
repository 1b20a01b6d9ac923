"""Manifests of runs that came to their verdict and no further: killed in that moment, or without room on the disk."""

from __future__ import annotations

import contextlib

from configs.home import Home
from memory.runs import Run, Runs, run_folder
from trainer.errors import TrainerError
from trainer.gate import verdict_from_json
from trainer.manifest import write_manifest
from trainer.run_files import RunFiles, read_inputs, read_measures


def complete_manifests(home: Home, runs: Runs, run: Run) -> None:
    """Write those that are missing of the runs before ``run``, of its kind and for the same.

    None where something of such a run is gone by now, or there is no room still.
    """
    for earlier in runs.list(run.member):
        if (earlier.kind, earlier.member) != (run.kind, run.member) or earlier.state not in ("shipped", "held"):
            continue
        files = RunFiles(run_folder(home, earlier))
        if files.inputs.is_file() and not files.manifest.is_file():
            with contextlib.suppress(TrainerError):
                verdict = verdict_from_json(earlier.summary["gate"])
                write_manifest(files, read_inputs(files), *read_measures(files), verdict, earlier.snapshot)
