"""The stages of one training as processes of their own, one after the other: what dies is begun again, and no more."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from configs.errors import Reported
from configs.sections.engine import EngineSettings
from configs.settings import Settings
from trainer.errors import NoRoom, RunStopped, StageDied, StageOverBudget
from trainer.run_files import RunFiles, read_json

POLL_SECONDS = 0.05
LOG = "output.log"


class StageProcesses:
    """Runs stages. ``stopping`` is looked at all the time; ``restarted`` hears the facts of a process that died.

    All of them together may take ``training.budget.run_seconds`` from now on.
    """

    def __init__(
        self, settings: Settings, stopping: Callable[[], bool], restarted: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._restarted = restarted
        self._deadline = time.monotonic() + settings.training.budget.run_seconds

    def run(self, stage: str, files: RunFiles) -> None:
        """Run one stage to its end; a process of it that died without a word is followed by another.

        Raises what the stage reports, StageDied, StageOverBudget, RunStopped, NoRoom.
        """
        for left in reversed(range(self._settings.training.budget.restarts + 1)):
            status = self._worker(stage, files)
            if status == 0 and files.report(stage).is_file():
                return
            if files.error(stage).is_file():
                told = read_json(files.error(stage))
                raise Reported(told["code"], told["facts"])
            died = StageDied(stage=stage, status=status, log=str(files.stage(stage) / LOG))
            if not left:
                raise died
            self._restarted(died.facts)

    def _worker(self, stage: str, files: RunFiles) -> int:
        """The exit status of one process of a stage. Raises StageOverBudget, RunStopped."""
        with _stage_log(files.stage(stage)) as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "trainer.worker", stage, str(files.folder), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **worker_environment(self._settings.engine)},
                cwd=Path(__file__).parents[1],
            )
            try:
                self._wait(stage, files, process)
            finally:
                self._end(process)
        return process.returncode

    def _wait(self, stage: str, files: RunFiles, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if self._stopping():
                raise RunStopped(run=files.folder.name)
            if time.monotonic() > self._deadline:
                raise StageOverBudget(stage=stage, seconds=self._settings.training.budget.run_seconds)
            time.sleep(POLL_SECONDS)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(self._settings.training.budget.stop_grace_seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def make_folder(folder: Path) -> None:
    """A folder of a run, for its owner alone. Raises NoRoom."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NoRoom(path=str(folder), reason=error.strerror or str(error)) from error


def worker_environment(settings: EngineSettings) -> dict[str, str]:
    """What a stage's process finds in its environment beside its supervisor's own."""
    # A waiting OpenMP thread that spins takes the processor from the engine, idle priority or not.
    spins = str(settings.thread_spins)
    return {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": spins, "PYTHONUNBUFFERED": "1"}


def _stage_log(folder: Path) -> BinaryIO:
    """A stage's folder, made, and in it the file for what its process says. Raises NoRoom."""
    make_folder(folder)
    try:
        return (folder / LOG).open("ab")
    except OSError as error:
        raise NoRoom(path=str(folder), reason=error.strerror or str(error)) from error
