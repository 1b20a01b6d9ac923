"""The stages of one training as processes of their own, each after what it takes; what dies is begun again, no more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from configs.errors import EnlaceError, Reported
from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import Settings
from memory import runlog
from memory.pausing import Pause, paused
from memory.runlog import RunEvent
from trainer.budgets import Budgets
from trainer.costs import Cost, Costs
from trainer.courtesy import Answering
from trainer.energy.energy import Energy
from trainer.energy.meter import meter_of
from trainer.errors import RunStopped, StageDied, StageOverBudget
from trainer.making_room import MakingRoom
from trainer.pipeline.estimate import Estimate
from trainer.pipeline.graph import Graph
from trainer.pipeline.kept import Kept
from trainer.pipeline.sources import graph_for
from trainer.plan import SHARED_OUT
from trainer.room import room_at
from trainer.run_files import RunFiles, read_inputs, read_json, write_json
from trainer.workers import Workers

POLL_SECONDS = 0.05
LOG = "output.log"
# Products of the last few shapes that are kept ready: those of one step. Of every number of tokens, each keeps some
# 20 MB for good otherwise, and hardly two steps have the same (oneDNN's and PyTorch's own cache in front of it).
READY_PRODUCTS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "128", "LRU_CACHE_CAPACITY": "64"}


class StageProcesses:
    """Runs stages. ``stopping`` is looked at all the time, and so is whether somebody has ``home`` pause its trainings.

    ``tell(kind, facts)`` hears what happens to them: stage_restarted, of a process that died; stage_skipped; paused;
    resumed. All of them together may take what ``training.budget`` says from now on, without the time in which they
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
        self._failing = False
        training = settings.training
        self._costs = Costs(meter_of(training.energy, training.estimate.watts), training.energy.sample_seconds)
        self._budgets = Budgets(training.budget, self._costs)

    def clock(self) -> float:
        """Seconds, by a clock that stands still while the stages are paused."""
        return self._costs.clock()

    def seconds_left(self) -> float:
        """Time until all stages together have taken as much as they may, of time or at this pace of energy."""
        return self._budgets.seconds_left()

    def expect(self, reckoned: Mapping[str, Estimate]) -> None:
        """Hold what is left to what its stages will take, from now on after each of them.

        Raises RunTooLong, RunTooCostly where it is too much already.
        """
        self._budgets.expect(reckoned)

    def took(self) -> Cost:
        """What the run has taken until now."""
        return self._costs.total()

    def go_on(self, stages: Iterable[str], files: RunFiles, *, within: float = math.inf) -> None:
        """Run those of the stages whose report is not there, each after what it takes, in ``within`` seconds.

        As many at once as ``training.budget.stages_at_once`` lets. Raises what a stage reports, StageDied,
        StageOverBudget, StageTooCostly, RestTooLong, RestTooCostly, RunStopped, NoRoom.
        """
        deadline = min(self._budgets.ends_at, self.clock() + within)
        waiting = [stage for stage in stages if not files.report(stage).is_file()]
        graph = graph_for(read_inputs(files)) if waiting else Graph(())
        while waiting:
            ready = [stage for stage in waiting if set(waiting).isdisjoint(graph.step(stage).takes.values())]
            together = ready[: self._settings.training.budget.stages_at_once]
            if len(together) == 1:
                self._make(together[0], files, deadline)
            else:
                self._make_together(together, files, deadline)
            waiting = [stage for stage in waiting if stage not in together]

    def _make_together(self, stages: Sequence[str], files: RunFiles, deadline: float) -> None:
        """Make all of these at the same time; where one fails, the others are stopped. Raises what the first did."""
        failed: list[EnlaceError] = []

        def make(stage: str) -> None:
            try:
                self._make(stage, files, deadline)
            except EnlaceError as error:
                failed.append(error)
                self._failing = True
            except BaseException:
                self._failing = True
                raise

        self._failing = False
        # A thread each lives as long as the process that it has started, which ends with it.
        with ThreadPoolExecutor(len(stages)) as threads:
            list(threads.map(make, stages))
        self._failing = False
        if failed:
            raise failed[0]

    def _make(self, stage: str, files: RunFiles, deadline: float) -> None:
        """Have the stage's result, from before or made now, in its place."""
        if not self._taken(stage, files):
            self._costs.begin(stage)
            try:
                self._run(stage, files, deadline)
            finally:
                energy = self._costs.end(stage)
            self._account(stage, files, energy)
            if self._kept:
                self._kept.keep(stage, files, read_inputs(files))
        self._budgets.done(stage)

    def _account(self, stage: str, files: RunFiles, energy: Energy) -> None:
        """Have the stage's report say what it took; what it says itself has the time in it in which it was held."""
        report = read_json(files.report(stage))
        seconds, paused_s = self._costs.worked(report.pop("began"), report["seconds"])
        if "tokens_per_second" in report and seconds:
            report["tokens_per_second"] *= report["seconds"] / seconds
        cost = Cost(seconds, paused_s, energy).as_json()
        write_json(files.report(stage), report | cost)
        with room_at(files.folder):
            runlog.append(files.folder, RunEvent(time.time(), "stage_took", stage, None, cost))

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
        longest = self._settings.training.budget.busy_wait_seconds
        room = MakingRoom(workers, Answering(self._home.busy_flag), longest)
        while (status := workers.status()) is None:
            if self._ending():
                raise RunStopped(run=files.folder.name)
            if self.clock() > deadline:
                raise StageOverBudget(stage=stage, seconds=self._settings.training.budget.run_seconds)
            self._budgets.check_energy(stage)
            if (wish := paused(self._home)) is not None:
                self._hold(workers, wish)
            room.look()
            time.sleep(POLL_SECONDS)
        return status

    def _hold(self, workers: Workers, wish: Pause) -> None:
        """Keep the processes from the processor while the pause lasts, or until the run is to be stopped."""
        first = self._costs.hold()
        try:
            workers.hold()
            if first:
                self._tell("paused", {"who": wish.who})
            while paused(self._home) is not None and not self._ending() and workers.status() is None:
                time.sleep(POLL_SECONDS)
        finally:
            # Of several that run at once, the time counts once.
            last = self._costs.go_on()
            workers.go_on()
        if last:
            self._tell("resumed", {})

    def _ending(self) -> bool:
        """Whether the run is to be stopped, or one of several stages that run at once has failed."""
        return self._stopping() or self._failing


def make_folder(folder: Path) -> None:
    """A folder of a run, for its owner alone. Raises NoRoom."""
    with room_at(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def worker_environment(settings: EngineSettings) -> dict[str, str]:
    """What a stage's process finds in its environment beside its supervisor's own."""
    # A waiting OpenMP thread that spins takes the processor from the engine, idle priority or not.
    spins = str(settings.thread_spins)
    return {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": spins, "PYTHONUNBUFFERED": "1", **READY_PRODUCTS}


def _stage_log(folder: Path) -> BinaryIO:
    """A stage's folder, made, and in it the file for what its process says. Raises NoRoom."""
    make_folder(folder)
    with room_at(folder):
        return (folder / LOG).open("ab")
