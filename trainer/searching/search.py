"""Several trainings in one run, of which the best becomes the run's own; the gate judges that one alone.

The first is the one that there would be without a search, in its own place, so a run without time for another is as
if there were none. The others are compared with it by wordings and prompts of their own (``trainer.stages.score``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from configs.errors import EnlaceError, Reported
from trainer.errors import GONE_TOO_FAR, SPENT, NoRoom, StageDied
from trainer.pipeline.usual import SCORE
from trainer.run_files import Inputs, RunFiles, read_json
from trainer.searching.choice import Choice
from trainer.searching.moves import Score, Trial, best_of, next_choice
from trainer.searching.trials import SEARCHED, TrialFiles
from trainer.staging import StageProcesses

# How one may end beside: a higher rank takes more memory, and whatever was found before is as good as ever.
LOST = (*GONE_TOO_FAR, StageDied.code)
OVER = (NoRoom.code, *(each.code for each in SPENT))


class Search:
    """The search of one run, which begins now. ``tell(kind, facts)``: an event of the run."""

    def __init__(
        self,
        files: RunFiles,
        inputs: Inputs,
        processes: StageProcesses,
        tell: Callable[[str, Mapping[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._inputs = inputs
        self._settings = inputs.training.search
        self._processes = processes
        self._tell = tell
        self._clock = clock
        self._ends_at = clock() + self._settings.seconds
        self._most_kl = self._settings.within * inputs.training.gate.unrelated_kl
        self._first = Choice.of(inputs.recipe)
        self._trials = TrialFiles(files, self._first)

    def run(self) -> Inputs:
        """Leave the best training in the run's folder; the inputs that it is of.

        Raises what the stages raise where that is no matter of the numbers, RunStopped, NoRoom.
        """
        # There is one where the run was killed while that was put in its place, or since.
        chosen = self._trials.chosen()
        found: list[Trial] = []
        choice: Choice | None = self._first
        while choice is not None and (trial := self._tried(choice, found, decided=chosen is not None)) is not None:
            found.append(trial)
            self._tell("choice_done", _told(trial, best=best_of(found, self._most_kl) == trial))
            same_rank = self._inputs.onward is not None
            choice = next_choice(found, self._settings, self._most_kl, same_rank=same_rank)
        if chosen is None and found:
            best = best_of(found, self._most_kl)
            if best.score is None:
                raise Reported(found[0].code, dict(found[0].facts or {}))
            chosen = best.choice
            self._trials.choose(chosen)
        return self._inputs if chosen is None else self._trials.put_in_place(self._inputs, chosen)

    def _tried(self, choice: Choice, before: Sequence[Trial], *, decided: bool) -> Trial | None:
        """What a choice gives; one that came to its end before a kill is not tried again. None: no time or room for
        it, or it is ``decided`` which one is chosen.
        """
        known = self._trials.known(choice)
        if known is not None or decided:
            return known
        trial = self._other(choice, before) if before else self._as_always()
        if trial is not None:
            self._trials.keep(trial)
        return trial

    def _as_always(self) -> Trial | None:
        """The training that there is in any case, compared with others only where there is time for one."""
        failed: Reported | None = None
        began = self._clock()
        try:
            self._processes.go_on(SEARCHED, self._files)
        except Reported as error:
            if error.code not in GONE_TOO_FAR:
                raise
            failed = error
        seconds = max(self._clock() - began, _stage_seconds(self._files))
        left = self._left(seconds)
        if left < seconds:
            if failed is not None:
                raise failed
            return None
        if failed is not None:
            return Trial(self._first, None, seconds, failed.code, failed.facts)
        trial = self._scored(self._first, self._files, left)
        # Where it cannot be compared there is nothing wrong with it.
        return trial if trial is not None and trial.score is not None else None

    def _other(self, choice: Choice, before: Sequence[Trial]) -> Trial | None:
        longest = max(trial.seconds for trial in before)
        reckoned = max(trial.seconds * max(1.0, choice.epochs / trial.choice.epochs) for trial in before)
        left = self._left(longest)
        if left < reckoned:
            return None
        self._tell("choice_started", {**choice.as_json(), "folder": self._trials.name(choice)})
        try:
            return self._scored(choice, self._trials.begin(choice, self._inputs), left)
        except NoRoom:
            return None

    def _left(self, longest: float) -> float:
        """Seconds for other trainings. What is measured at the end takes less than the ``longest`` one took."""
        return min(self._ends_at - self._clock(), self._processes.seconds_left() - longest)

    def _scored(self, choice: Choice, files: RunFiles, within: float) -> Trial | None:
        """What its training gives, within so many seconds; None where it takes longer, or where there is no room."""
        began = self._clock()
        try:
            self._processes.go_on((*SEARCHED, SCORE), files, within=within)
        except EnlaceError as error:
            if error.code in OVER:
                return None
            if error.code not in LOST:
                raise
            return Trial(choice, None, self._clock() - began, error.code, error.facts)
        told = read_json(files.score)
        seconds = max(self._clock() - began, _stage_seconds(files))
        return Trial(choice, Score(told["right"], told["nats"], told["unrelated_kl"]), seconds)


def _stage_seconds(files: RunFiles) -> float:
    """What the stages of a training took that came to their end, also where some of it was before a kill."""
    reports = {stage: read_json(files.report(stage)) for stage in (*SEARCHED, SCORE) if files.report(stage).is_file()}
    seconds = sum(report["seconds"] for report in reports.values())
    train = reports.get("train", {})
    speed = train.get("tokens_per_second")
    return float(seconds + max(0.0, train["tokens"] / speed - train["seconds"]) if speed else seconds)


def _told(trial: Trial, *, best: bool) -> dict[str, Any]:
    """A training for the run's log; ``best``: of those so far."""
    score = {} if trial.score is None else asdict(trial.score)
    return {**trial.choice.as_json(), **score, "seconds": trial.seconds, "code": trial.code, "best": best}
