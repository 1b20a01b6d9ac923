"""The stages of one training as processes of their own, one after the other: what dies is begun again, and no more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from configs.errors import Reported
from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import Settings
from memory.pausing import Pause, paused
from trainer.errors import NoRoom, RunStopped, StageDied, StageOverBudget
from trainer.pipeline.kept import Kept
from trainer.plan import SHARED_OUT
from trainer.run_files import RunFiles, read_inputs, read_json
from trainer.workers import Workers

POLL_SECONDS = 0.05
LOG = "output.log"


class StageProcesses:
    """Runs stages. ``stopping`` is looked at all the time, and so is whether somebody has ``home`` pause its trainings.

    ``tell(kind, facts)`` hears what happens to them: stage_restarted, of a process that died; stage_skipped; paused;
    resumed. All of them together may take ``training.budget.run_seconds`` from now on, without the time in which they
    were paused. ``kept``: what was made before, which is not made again. None: everything is made, and nothing kept.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        stopping: Callable[[], bool],
        tell: Callable[[str, Mapping[str, Any]], None],
        kept: Kept | None = None,
    ) -> None:
        self._home = home
        self._settings = settings
        self._stopping = stopping
        self._tell = tell
        self._kept = kept
        self._held_s = 0.0
        self._deadline = self.clock() + settings.training.budget.run_seconds

    def clock(self) -> float:
        """Seconds, by a clock that stands still while the stages are paused."""
        return time.monotonic() - self._held_s

    def seconds_left(self) -> float:
        """Time until all stages together have taken as long as they may."""
        return self._deadline - self.clock()

    def go_on(self, stages: Iterable[str], files: RunFiles, *, within: float = math.inf) -> None:
        """Run those of the stages whose report is not there, one after the other, in ``within`` seconds.

        Raises what a stage reports, StageDied, StageOverBudget, RunStopped, NoRoom.
        """
        deadline = min(self._deadline, self.clock() + within)
        for stage in stages:
            if not files.report(stage).is_file() and not self._taken(stage, files):
                self._run(stage, files, deadline)
                if self._kept:
                    self._kept.keep(stage, files, read_inputs(files))

    def _taken(self, stage: str, files: RunFiles) -> bool:
        """Whether the stage's result was there already, and is in its place now."""
        made = self._kept.take(stage, files, read_inputs(files)) if self._kept else None
        if made:
            self._tell("stage_skipped", {"stage": stage, "run": made.run})
        return made is not None

    def _run(self, stage: str, files: RunFiles, deadline: float) -> None:
        """Run one stage to its end; a process of it that died without a word is followed by another."""
        for left in reversed(range(self._settings.training.budget.restarts + 1)):
            status = self._worker(stage, files, deadline)
            if status == 0 and files.report(stage).is_file():
                return
            if files.error(stage).is_file():
                told = read_json(files.error(stage))
                raise Reported(told["code"], told["facts"])
            died = StageDied(stage=stage, status=status, log=str(files.stage(stage) / LOG))
            if not left:
                raise died
            self._tell("stage_restarted", died.facts)

    def _worker(self, stage: str, files: RunFiles, deadline: float) -> int:
        """The exit status of a stage's process, or its processes. Raises StageOverBudget, RunStopped."""
        training = self._settings.training
        count = training.distribution.processes if stage in SHARED_OUT else 1
        with _stage_log(files.stage(stage)) as log:
            workers = Workers(stage, files, count, log, worker_environment(self._settings.engine))
            try:
                return self._wait(stage, files, workers, deadline)
            finally:
                workers.end(training.budget.stop_grace_seconds)

    def _wait(self, stage: str, files: RunFiles, workers: Workers, deadline: float) -> int:
        while (status := workers.status()) is None:
            if self._stopping():
                raise RunStopped(run=files.folder.name)
            if self.clock() > deadline:
                raise StageOverBudget(stage=stage, seconds=self._settings.training.budget.run_seconds)
            if (wish := paused(self._home)) is not None:
                self._hold(workers, wish)
            time.sleep(POLL_SECONDS)
        return status

    def _hold(self, workers: Workers, wish: Pause) -> None:
        """Keep the processes from the processor while the pause lasts, or until the run is to be stopped."""
        began = time.monotonic()
        try:
            workers.hold()
            self._tell("paused", {"who": wish.who})
            while paused(self._home) is not None and not self._stopping() and workers.status() is None:
                time.sleep(POLL_SECONDS)
        finally:
            self._held_s += time.monotonic() - began
            workers.go_on()
        self._tell("resumed", {})


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
