"""One run from lessons to a promoted snapshot: starts the stages as child processes, judges, promotes, tells.

Only this process opens the household's database. A stage's result counts when its report is there; the
run's manifest is written last. Killed at any instant, it leaves a run that the next start finds dead, and files
with which that one goes on where it starts from the same.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings
from memory.errors import FileNotWritten
from memory.household import Household
from memory.runs import Run, run_folder
from trainer.completing import complete_manifests
from trainer.courtesy import stop_on_signals
from trainer.errors import LessonsTakenBack, RunStopped, TrainerError
from trainer.judging import verdict_on
from trainer.learning import FamilyLearning, Learning
from trainer.manifest import identity, planned, write_manifest, write_partial
from trainer.pipeline.estimate import estimates, shown_here, together
from trainer.pipeline.sources import order_of
from trainer.private import PrivateLearning
from trainer.run_files import Inputs, RunFiles, read_inputs, read_measures
from trainer.searching.search import Search
from trainer.searching.worked import what_worked
from trainer.staging import StageProcesses, make_folder
from trainer.taking_up import take_up
from trainer.telling import leave_reports, tell, tell_failed
from trainer.tracking import leave_curves


@dataclass(frozen=True)
class Outcome:
    """How a run ended. ``snapshot``: what was promoted, if anything was."""

    run: str
    decision: str
    snapshot: str | None


class Supervisor:
    """Carries one run. ``stop`` may be called from a signal handler."""

    def __init__(
        self, home: Home, settings: Settings, household: Household, learning: Learning, clock: Callable[[], float]
    ) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        self._learning = learning
        self._clock = clock
        self._stopping = False
        self._folder = home.runs
        # The identity of the manifest that it is asked for.
        self._asked: list[str] = []
        self._processes = StageProcesses(
            home, settings, lambda: self._stopping, lambda kind, facts: self._tell(kind, None, facts), learning.kept
        )

    def stop(self) -> None:
        """End the run cleanly at the next look: the worker is stopped, nothing is promoted."""
        self._stopping = True

    def run(self, recipe_name: str, who: str) -> Outcome:
        """Train on every lesson in force of whom it learns from; a report is left, however it ends.

        Raises RunAlreadyRunning and whatever kept it from a verdict.
        """
        run = self._household.runs.create(self._learning.kind, member=self._learning.member)
        seconds = self._settings.training.budget.report_seconds
        self._folder = run_folder(self._home, run)
        try:
            files = RunFiles(self._folder)
            make_folder(self._folder)
            self._tell("run_started", 0.0, {"run": run.id, "recipe": recipe_name, "who": who})
            leave_reports(self._home, self._household, complete_manifests(self._home, self._household, run), seconds)
            inputs = self._learning.begin(run.id, recipe_name, files)
            self._tell("planned", None, {"stages": list(order_of(inputs))})
            taken = take_up(self._household.runs, run, files)
            if taken:
                self._tell("taken_up", None, {"run": taken})
            if inputs.onward:
                learned = len(inputs.onward.learned)
                facts = {"snapshot": inputs.onward.snapshot, "new": len(inputs.lessons) - learned, "learned": learned}
                self._tell("going_on", None, facts)
            self._asked = [identity(planned(inputs))]
            self._afford(inputs, files)
            if inputs.training.search.seconds:
                inputs = self._searched(inputs, files)
            self._processes.go_on(order_of(inputs), files)
            return self._conclude(run, inputs, files, who)
        except EnlaceError as error:
            # A verdict that is on record stays, also where its manifest found no room: the next run writes that.
            if self._household.runs.get(run.id).state == "running":
                cost = self._processes.took()
                tell_failed(self._household, run, error, self._tell, cost if cost.energy.joules else None)
                self._leave_partial(error)
            raise
        finally:
            with contextlib.suppress(FileNotWritten):
                # What was withdrawn meanwhile, or could not be taken out before; the next training tries again.
                leave_reports(self._home, self._household, self._learning.forget_withdrawn(), seconds)
            leave_reports(self._home, self._household, (run.id,), seconds)
            leave_curves(self._folder, run.id, seconds)

    def _afford(self, inputs: Inputs, files: RunFiles) -> None:
        """Say what the stages will take that are still to be done. Raises RunTooLong, RunTooCostly."""
        done = {name for name in inputs.stages if files.report(name).is_file()} | set(self._learning.kept.known(inputs))
        every = estimates(inputs, shown_here(self._household, inputs))
        left = {name: each for name, each in every.items() if name not in done}
        self._tell("reckoned", None, together(left.values()).as_json())
        self._processes.expect(left)

    def _searched(self, inputs: Inputs, files: RunFiles) -> Inputs:
        """Train by several choices of numbers, as if the best had been the only one; the inputs that it is of."""
        processes = self._processes
        search = Search(files, inputs, processes, lambda kind, facts: self._tell(kind, None, facts), processes.clock)
        processes.go_on(order_of(inputs)[:1], files)
        return search.run()

    def _conclude(self, run: Run, inputs: Inputs, files: RunFiles, who: str) -> Outcome:
        """Judge, put the verdict on record, promote where the gate lets it, and write the manifest last."""
        measures, baseline = read_measures(files)
        cost = self._processes.took()
        self._tell("took", None, cost.as_json())
        verdict = verdict_on(files, self._settings.training.gate)
        self._tell("verdict", 0.98, verdict.as_json())
        if self._stopping:
            raise RunStopped(run=run.id)
        taken_back = self._learning.taken_back(run.id)
        if taken_back:
            raise LessonsTakenBack(run=run.id, number=len(taken_back))
        summary: dict[str, Any] = {"recipe": inputs.recipe_name, "gate": verdict.as_json()}
        if run.member is None:
            summary |= {"lessons": len(inputs.lessons), "cost": cost.as_json()}
            # Where numbers were searched, what was found is another manifest than what was asked for.
            summary["manifests"] = list(dict.fromkeys([*self._asked, identity(planned(inputs))]))
        snapshot = None
        if verdict.decision == "SHIP":
            if inputs.training.search.seconds:
                summary |= what_worked(inputs)
            self._household.runs.judge(run.id, summary)
            snapshot = self._learning.promote(
                inputs,
                files.adapter,
                verdict,
                who,
                lambda made: self._household.runs.finish(run.id, "shipped", snapshot=made, summary=summary),
            )
            self._tell("promoted", 0.99, {"snapshot": snapshot})
        else:
            self._household.runs.finish(run.id, "held", summary=summary)
        write_manifest(files, inputs, measures, baseline, verdict, snapshot)
        self._tell("run_done", 1.0, {"decision": verdict.decision, "snapshot": snapshot or ""})
        return Outcome(run.id, verdict.decision, snapshot)

    def _leave_partial(self, error: EnlaceError) -> None:
        """Say in the run's folder what was done and what is to be done again, where it came to a beginning."""
        files = RunFiles(self._folder)
        with contextlib.suppress(TrainerError):
            write_partial(files, read_inputs(files), error.code)

    def _tell(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        tell(self._folder, self._clock(), kind, fraction, facts)


def carry(home: Home, settings: Settings, recipe: str, who: str, member: str | None = None) -> Outcome:
    """A whole run in this process, stopped by SIGTERM or SIGINT: on the shared lessons, or a ``member``'s private ones.

    Raises MemberUnknown, PrivateTrainingOff and what ``Supervisor.run`` does.
    """
    with Household.open(home, settings.memory, unattended=True) as household:
        learning: Learning = FamilyLearning(home, settings, household)
        if member is not None:
            learning = PrivateLearning(home, settings, household, member)
        supervisor = Supervisor(home, settings, household, learning, time.time)
        stop_on_signals(supervisor.stop)
        return supervisor.run(recipe, who)


def as_line(outcome: Outcome) -> str:
    """An outcome as one line of JSON."""
    return json.dumps(asdict(outcome))
