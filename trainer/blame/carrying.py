"""A whole search for the lesson for which a run was held: a run of its own, which promotes nothing, ever."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings
from memory.errors import FileNotWritten
from memory.household import Household
from memory.runs import BLAME, LESSONS, Run
from trainer.blame.search import fewest
from trainer.blame.suspects import Suspects
from trainer.blame.trials import FOLDER, Trials
from trainer.courtesy import stop_on_signals
from trainer.errors import BaseReplaced, HeldRunChanged, RunNotHeld
from trainer.judging import stage_seconds
from trainer.room import room_at
from trainer.run_files import Inputs, RunFiles, read_inputs, read_json, write_json
from trainer.staging import make_folder
from trainer.taking_up import start_of
from trainer.telling import leave_reports, tell, tell_failed

BLAMED = "blamed"  # beside the inputs of a search: the run that was held


@dataclass(frozen=True)
class Blamed:
    """How search ``run`` ended. ``lessons``: without all of them the gate passes; ``complete``: none may stay."""

    run: str
    held: str
    lessons: tuple[str, ...]
    complete: bool


class Blamer:
    """Carries one search. ``stop`` may be called from a signal handler."""

    def __init__(self, home: Home, settings: Settings, household: Household, clock: Callable[[], float]) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        self._clock = clock
        self._stopping = False
        self._folder = home.runs

    def stop(self) -> None:
        """End the search cleanly at the next look; what it has found out is kept for the next one."""
        self._stopping = True

    def run(self, held_id: str, who: str) -> Blamed:
        """Search for the lessons for which run ``held_id`` was held.

        Raises RunUnknown, RunNotHeld, HeldRunChanged, BaseReplaced, RunAlreadyRunning, RunStopped, NoRoom, and what
        the stages of a training raise.
        """
        held = self._household.runs.get(held_id)
        inputs = self._inputs(held)
        run = self._household.runs.create(BLAME)
        self._folder = self._home.runs / run.id
        try:
            files = RunFiles(self._folder)
            make_folder(self._folder)
            reasons = held.summary["gate"]["reasons"]
            facts = {"run": run.id, "recipe": inputs.recipe_name, "who": who, BLAMED: held.id, "reasons": reasons}
            self._tell("run_started", 0.0, facts)
            self._household.runs.give(run.id, (lesson.id for lesson in inputs.lessons))
            inputs = replace(inputs, run=run.id)
            write_json(files.inputs, {**inputs.as_json(), BLAMED: held.id})
            taken = self._take_up(run, files)
            if taken:
                self._tell("taken_up", None, {"run": taken})
            return self._search(run, held, reasons, inputs, files)
        except EnlaceError as error:
            tell_failed(self._household, run, error, self._tell)
            raise
        finally:
            with contextlib.suppress(FileNotWritten):
                seconds = self._settings.training.budget.report_seconds
                leave_reports(self._home, self._household, self._household.forget_withdrawn(), seconds)

    def _search(self, run: Run, held: Run, reasons: list[str], inputs: Inputs, files: RunFiles) -> Blamed:
        left = RunFiles(self._home.runs / held.id)
        suspects = _suspects(inputs, left, reasons, self._settings.training.blame.alike)
        for suspect in suspects.ranked:
            self._tell("suspect", None, suspect.as_json())

        def told(kind: str, facts: Mapping[str, Any]) -> None:
            self._tell(kind, None, facts)

        cost = stage_seconds(left)
        trials = Trials(self._home, files, inputs, self._settings, cost, lambda: self._stopping, told)
        ranked = [suspect.lesson for suspect in suspects.ranked]
        finding = fewest(ranked, suspects.enough(inputs.training.gate), trials.passes)
        # Plain ids: what names a lesson in an object of its own goes when that one is withdrawn, and that it was is
        # what this finding is for.
        outcome = {"lessons": list(finding.lessons), "complete": finding.complete}
        self._household.runs.finish(run.id, "done", summary={BLAMED: held.id, **outcome})
        self._tell("run_done", 1.0, outcome)
        return Blamed(run.id, held.id, finding.lessons, finding.complete)

    def _inputs(self, held: Run) -> Inputs:
        """What the held run started from. Raises RunNotHeld, HeldRunChanged, BaseReplaced."""
        if held.kind != LESSONS or held.state != "held":
            raise RunNotHeld(run=held.id)
        files = RunFiles(self._home.runs / held.id)
        # Its training data goes with the first lesson that is withdrawn, and does not come back with it.
        if self._household.runs.taken_back().get(held.id) or not files.data.is_file():
            raise HeldRunChanged(run=held.id)
        inputs = read_inputs(files)
        if not all(file.path.is_file() for file in inputs.current_adapters):
            raise HeldRunChanged(run=held.id)
        found = self._household.snapshots.file_digest(inputs.base)
        if found != inputs.base_sha256:
            raise BaseReplaced(path=str(inputs.base), expected=inputs.base_sha256, found=found)
        return inputs

    def _take_up(self, run: Run, files: RunFiles) -> str | None:
        """Move the trainings of an earlier search of the same into this one's folder; its id. Raises NoRoom."""
        for earlier in self._household.runs.list():
            left = RunFiles(self._home.runs / earlier.id)
            if earlier.id == run.id or earlier.kind != BLAME or not (left.folder / FOLDER).is_dir():
                continue
            if start_of(left) != start_of(files):
                continue
            with room_at(files.folder):
                (left.folder / FOLDER).replace(files.folder / FOLDER)
            return earlier.id
        return None

    def _tell(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        tell(self._folder, self._clock(), kind, fraction, facts)


def _suspects(inputs: Inputs, held: RunFiles, reasons: list[str], alike: float) -> Suspects:
    answers = read_json(held.measures)["answers"]
    losses = read_json(held.report("train")).get("lesson_losses", [])
    # What a training went on from had passed the gate with those lessons.
    learned = inputs.onward.learned if inputs.onward else frozenset[str]()
    new = [lesson for lesson in inputs.lessons if lesson.id not in learned]
    return Suspects(new, answers, losses, reasons, alike)


def carry_blame(home: Home, settings: Settings, held: str, who: str) -> Blamed:
    """A whole search in this process, stopped by SIGTERM or SIGINT."""
    with Household.open(home, settings.memory, unattended=True) as household:
        blamer = Blamer(home, settings, household, time.time)
        stop_on_signals(blamer.stop)
        return blamer.run(held, who)
