"""Trainings of a held run without some of its lessons: from lessons to the gate's verdict, and no further."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from configs.errors import Reported
from configs.home import Home
from configs.settings import Settings
from trainer.blame.search import OutOfTime
from trainer.errors import GONE_TOO_FAR
from trainer.judging import verdict_on
from trainer.pipeline.sources import order_of
from trainer.plan import STAGES
from trainer.run_files import Inputs, RunFiles, read_json, write_json
from trainer.staging import StageProcesses, make_folder

FOLDER = "trials"
VERDICT = "verdict.json"
NAMED = 16  # hex digits of a hash in a folder's name


@dataclass(frozen=True)
class Trial:
    """A training ``without`` these lessons (ids). ``checks`` as in a verdict; none where it broke before.

    ``reasons``: the checks that failed, or the code of what broke it. ``seconds`` of all its stages.
    """

    without: tuple[str, ...]
    reasons: tuple[str, ...]
    checks: tuple[Mapping[str, Any], ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.reasons

    def as_json(self) -> dict[str, Any]:
        """For the run's files and events."""
        return {**asdict(self), "passed": self.passed}


class Trials:
    """Trainings in the folder of one search. ``known``: those that came to a verdict, in the order of asking.

    ``inputs`` are those of the search; ``cost``: seconds that a training is reckoned to take until one has shown it.
    """

    def __init__(
        self,
        home: Home,
        files: RunFiles,
        inputs: Inputs,
        settings: Settings,
        cost: float,
        stopping: Callable[[], bool],
        tell: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        self._home = home
        self._files = files
        self._inputs = inputs
        self._settings = settings
        self._cost = cost
        self._stopping = stopping
        self._tell = tell
        self._ends_at = time.monotonic() + settings.training.blame.seconds
        self.known: dict[frozenset[str], Trial] = {}

    def passes(self, without: frozenset[str]) -> bool:
        """Whether the gate passes a training without these lessons; one that was judged before is not repeated.

        Raises OutOfTime where there is no time for another, RunStopped, and what the stages raise.
        """
        if without not in self.known:
            found = self._judged(without)
            self.known[without] = found
            self._cost = max(self._cost, found.seconds)
            self._tell("trial_done", found.as_json())
        return self.known[without].passed

    def _judged(self, without: frozenset[str]) -> Trial:
        left = tuple(lesson for lesson in self._inputs.lessons if lesson.id not in without)
        if not left:
            # Nothing would be trained, so nothing is left to be held.
            return Trial(tuple(sorted(without)), (), (), 0.0)
        name = hashlib.sha256(" ".join(sorted(without)).encode()).hexdigest()[:NAMED]
        files = RunFiles(self._files.folder / FOLDER / name)
        verdict = files.folder / VERDICT
        if not verdict.is_file():
            if time.monotonic() + self._cost > self._ends_at:
                raise OutOfTime
            self._tell("trial_started", {"folder": f"{FOLDER}/{name}", "without": sorted(without)})
            make_folder(files.folder)
            write_json(files.inputs, replace(self._inputs, lessons=left).as_json())
            write_json(verdict, asdict(self._trained(without, files)))
        # Nothing of it is ever used: its weights, and the words of what taught them, go.
        for stage in STAGES:
            shutil.rmtree(files.stage(stage), ignore_errors=True)
        files.inputs.unlink(missing_ok=True)
        told = read_json(verdict)
        return Trial(tuple(told["without"]), tuple(told["reasons"]), tuple(told["checks"]), told["seconds"])

    def _trained(self, without: frozenset[str], files: RunFiles) -> Trial:
        processes = StageProcesses(self._home, self._settings, self._stopping, self._tell)
        reasons: tuple[str, ...]
        checks: tuple[Mapping[str, Any], ...]
        try:
            processes.go_on(order_of(self._inputs), files)
            verdict = verdict_on(files, self._inputs.training.gate)
            reasons, checks = verdict.reasons, tuple(asdict(check) for check in verdict.checks)
        except Reported as error:
            if error.code not in GONE_TOO_FAR:
                raise
            # It has been judged too: it is none that anybody would want.
            reasons, checks = (error.code,), ()
        reports = [read_json(files.report(stage)) for stage in STAGES if files.report(stage).is_file()]
        return Trial(tuple(sorted(without)), reasons, checks, sum(report["seconds"] for report in reports))
