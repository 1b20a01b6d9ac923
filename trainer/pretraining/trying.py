"""Trials as processes of their own, each within the memory that its run may take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import psutil

from configs.pretraining.schema import Run
from configs.sections.training import TrainingSettings
from trainer.place import environments
from trainer.pretraining.misfits import TrialFailed
from trainer.pretraining.profiles import GIB
from trainer.pretraining.trial import Trial, Tried

ROOT: Final = Path(__file__).resolve().parents[2]
_KILLED: Final = -9  # by the system, which had no memory left

Processes = list[subprocess.Popen[str]]


@dataclass(frozen=True)
class Trials:
    """Tries runs. ``folder``: on the disk that checkpoints will be on; ``tell`` hears of each trial that begins."""

    settings: TrainingSettings
    folder: Path
    tell: Callable[[Run], None]

    def measured(self, run: Run) -> Tried | None:
        """What steps of ``run`` take; None where they do not fit into the memory of its profile. Raises TrialFailed."""
        return self._tried(run, self.settings.preflight.seconds)

    def fits(self, run: Run) -> Tried | None:
        """As ``measured``, but for memory alone: no times."""
        return self._tried(run, 0.0)

    def _tried(self, run: Run, seconds: float) -> Tried | None:
        self.tell(run)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".trial-") as inside:
            settings = self.settings
            trial = Trial(
                run=run,
                micro_batches=settings.preflight.micro_batches,
                seconds=seconds,
                patience=settings.preflight.patience_seconds,
                idle=settings.idle_priority,
                folder=inside,
                energy=settings.energy,
            )
            with _begun(trial) as processes:
                return self._answer(processes, trial)

    def _answer(self, processes: Processes, trial: Trial) -> Tried | None:
        """What the first of them found, and the highest memory that any of them had; None where one had too much."""
        hardware, limit = trial.run.hardware, int(trial.run.hardware.memory_gib * GIB)
        # Of a card, what a process may take of it is set in the process itself.
        watched = [psutil.Process(each.pid) for each in processes] if hardware.device == "cpu" else []
        while None in (codes := [each.poll() for each in processes]) and not any(codes):
            if any(_resident(each) > limit for each in watched):
                # Before the machine has to put others' memory on the disk.
                return None
            time.sleep(self.settings.preflight.poll_seconds)
        if any(each.returncode == _KILLED for each in processes):
            return None
        for each in processes:
            if each.returncode:
                lines = _text(each.stderr).strip().splitlines()
                raise TrialFailed(run=trial.run.name, reason=lines[-1] if lines else f"exit {each.returncode}")
        found = [json.loads(_text(each.stdout)) for each in processes]
        if None in found:
            return None
        peak = max(each["peak_bytes"] for each in found)
        return (
            Tried(**{**found[0], "peak_bytes": peak, "sources": tuple(found[0]["sources"])}) if peak <= limit else None
        )


@contextmanager
def _begun(trial: Trial) -> Iterator[Processes]:
    """The processes of a trial, which have been told what it is; they end with the block."""
    count = trial.run.hardware.processes
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "trainer.pretraining.trial", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        for environment in environments(count, os.environ)
    ]
    try:
        for each in processes:
            if each.stdin:
                json.dump(trial.as_json(), each.stdin)
                each.stdin.close()
        yield processes
    finally:
        for each in processes:
            each.kill()
            each.wait()
            for pipe in (each.stdout, each.stderr):
                if pipe:
                    pipe.close()


def _text(pipe: IO[str] | None) -> str:
    return pipe.read() if pipe else ""


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
