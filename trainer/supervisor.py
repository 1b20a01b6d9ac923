"""One run from lessons to a promoted snapshot: starts the stages as child processes, judges, promotes, tells.

Only this process opens the household's database. A stage's result counts when its report is there; the
run's manifest is written last. Killed at any instant, it leaves a run that the next start finds dead, and files
with which that one goes on where it starts from the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from configs.errors import EnlaceError, Reported
from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import Settings
from memory import runlog
from memory.errors import FileNotWritten
from memory.household import Household
from memory.runlog import RunEvent
from memory.runs import Run, State
from trainer.beginning import begin
from trainer.errors import LessonsTakenBack, NoRoom, RunStopped, StageDied, StageOverBudget
from trainer.gate import judge
from trainer.manifest import write_manifest
from trainer.plan import STAGES
from trainer.promotion import promote
from trainer.reporting import leave_report
from trainer.run_files import Inputs, RunFiles, read_json
from trainer.taking_up import take_up

POLL_SECONDS = 0.05
LOG = "output.log"


@dataclass(frozen=True)
class Outcome:
    """How a run ended. ``snapshot``: what was promoted, if anything was."""

    run: str
    decision: str
    snapshot: str | None


class Supervisor:
    """Carries one run. ``stop`` may be called from a signal handler."""

    def __init__(self, home: Home, settings: Settings, household: Household, clock: Callable[[], float]) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        self._clock = clock
        self._stopping = False
        self._folder = home.runs
        self._deadline = time.monotonic() + settings.training.budget.run_seconds

    def stop(self) -> None:
        """End the run cleanly at the next look: the worker is stopped, nothing is promoted."""
        self._stopping = True

    def run(self, recipe_name: str, who: str) -> Outcome:
        """Train on every shared lesson in force; a report is left, however it ends.

        Raises RunAlreadyRunning and whatever kept it from a verdict.
        """
        run = self._household.runs.create("lessons")
        self._folder = self._home.runs / run.id
        try:
            files = RunFiles(self._folder)
            _make_folder(self._folder)
            self._tell("run_started", 0.0, {"run": run.id, "recipe": recipe_name, "who": who})
            inputs = begin(self._home, self._settings, self._household, run.id, recipe_name, files)
            taken = take_up(self._household.runs, run, files)
            if taken:
                self._tell("taken_up", None, {"run": taken})
            for stage in STAGES:
                if not files.report(stage).is_file():
                    self._stage(stage, files)
            return self._conclude(run, inputs, files, who)
        except EnlaceError as error:
            self._failed(run, error)
            raise
        finally:
            with contextlib.suppress(FileNotWritten):
                # What was withdrawn meanwhile, or could not be taken out before; the next training tries again.
                self._forget_withdrawn()
            leave_report(self._home, run.id, self._settings.training.budget.report_seconds)

    def _forget_withdrawn(self) -> None:
        """Take withdrawn lessons out of the folders of runs that ended. Raises FileNotWritten."""
        for changed in self._household.forget_withdrawn():
            leave_report(self._home, changed, self._settings.training.budget.report_seconds)

    def _stage(self, stage: str, files: RunFiles) -> None:
        """Run one stage to its end; a process of it that died without a word is followed by another.

        Raises what the stage reports, StageDied, StageOverBudget, RunStopped.
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
            self._tell("stage_restarted", None, died.facts)

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
                self._wait(stage, process)
            finally:
                self._end(process)
        return process.returncode

    def _wait(self, stage: str, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if self._stopping:
                raise RunStopped(run=self._folder.name)
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

    def _conclude(self, run: Run, inputs: Inputs, files: RunFiles, who: str) -> Outcome:
        """Judge, promote where the gate lets it, write the manifest, close the run."""
        measured = read_json(files.measures)
        parity = read_json(files.report("export"))["parity_kl"]
        measures = {**measured["measures"], "parity_kl": parity}
        verdict = judge(measures, self._settings.training.gate)
        self._tell("verdict", 0.98, verdict.as_json())
        if self._stopping:
            raise RunStopped(run=run.id)
        taken_back = self._household.runs.taken_back().get(run.id)
        if taken_back:
            raise LessonsTakenBack(run=run.id, number=len(taken_back))
        snapshot = None
        if verdict.decision == "SHIP":
            engine = self._settings.engine
            snapshot = promote(self._home, engine, self._household, inputs, files.adapter, verdict, who)
            self._tell("promoted", 0.99, {"snapshot": snapshot.id})
        write_manifest(files, inputs, measures, measured["baseline"], verdict, snapshot)
        name = snapshot.id if snapshot else None
        summary = {"lessons": len(inputs.lessons), "recipe": inputs.recipe_name, "gate": verdict.as_json()}
        self._household.runs.finish(run.id, "shipped" if snapshot else "held", snapshot=name, summary=summary)
        self._tell("run_done", 1.0, {"decision": verdict.decision, "snapshot": name or ""})
        return Outcome(run.id, verdict.decision, name)

    def _failed(self, run: Run, error: EnlaceError) -> None:
        state: State = "stopped" if isinstance(error, RunStopped) else "failed"
        told = {"code": error.code, "facts": error.facts}
        self._household.runs.finish(run.id, state, summary=told)
        try:
            self._tell("run_failed", None, told)
        except NoRoom:
            # The run's end is on record in the database; its log has no room for it.
            return

    def _tell(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        try:
            runlog.append(self._folder, RunEvent(self._clock(), kind, "", fraction, facts))
        except OSError as error:
            raise NoRoom(path=str(self._folder), reason=error.strerror or str(error)) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NoRoom(path=str(folder), reason=error.strerror or str(error)) from error


def _stage_log(folder: Path) -> BinaryIO:
    """A stage's folder, made, and in it the file for what its process says. Raises NoRoom."""
    _make_folder(folder)
    try:
        return (folder / LOG).open("ab")
    except OSError as error:
        raise NoRoom(path=str(folder), reason=error.strerror or str(error)) from error


def carry(home: Home, settings: Settings, recipe: str, who: str) -> Outcome:
    """A whole run in this process, stopped by SIGTERM or SIGINT."""
    with Household.open(home, settings.memory) as household:
        supervisor = Supervisor(home, settings, household, time.time)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: supervisor.stop())
        return supervisor.run(recipe, who)


def as_line(outcome: Outcome) -> str:
    """An outcome as one line of JSON."""
    return json.dumps(asdict(outcome))


def worker_environment(settings: EngineSettings) -> dict[str, str]:
    """What a stage's process finds in its environment beside its supervisor's own."""
    # A waiting OpenMP thread that spins takes the processor from the engine, idle priority or not.
    spins = str(settings.thread_spins)
    return {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": spins, "PYTHONUNBUFFERED": "1"}
