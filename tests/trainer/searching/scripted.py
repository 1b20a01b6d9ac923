"""Stages that leave what a training of a script would, in the time that it says, without training anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from configs.errors import Reported
from memory import runlog
from memory.runlog import RunEvent
from trainer.errors import StageOverBudget
from trainer.pipeline.usual import SCORE
from trainer.room import write_whole
from trainer.run_files import RunFiles, read_inputs, write_json
from trainer.searching.choice import Choice
from trainer.staging import StageProcesses


@dataclass(frozen=True)
class Gives:
    """What a training gives. ``breaks``: the code of the error that its first stage ends with."""

    right: float = 0.5
    nats: float = 1.0
    kl: float = 0.05
    seconds: float = 100.0
    breaks: str = ""


@dataclass
class Clock:
    """A time that passes where it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Scripted(StageProcesses):
    """``done``: the stages that were run, each with the learning rate. ``run_seconds``: for all of them together."""

    gives: Callable[[Choice], Gives]
    clock: Clock
    run_seconds: float = math.inf
    done: list[tuple[str, float]] = field(default_factory=list)

    def seconds_left(self) -> float:
        return self.run_seconds - self.clock.now

    def go_on(self, stages: Iterable[str], files: RunFiles, *, within: float = math.inf) -> None:
        ends = min(self.run_seconds, self.clock.now + within)
        for stage in stages:
            if not files.report(stage).is_file():
                self._stage(stage, files, ends)

    def _stage(self, stage: str, files: RunFiles, ends: float) -> None:
        choice = Choice.of(read_inputs(files).recipe)
        gives = self.gives(choice)
        self.done.append((stage, choice.learning_rate))
        seconds = {"train": 0.8, "export": 0.1, SCORE: 0.1}[stage] * gives.seconds
        self.clock.now += seconds
        if self.clock.now > ends:
            self.clock.now = ends
            raise StageOverBudget(stage=stage, seconds=0)
        if gives.breaks:
            raise Reported(gives.breaks, {"step": 3})
        runlog.append(files.folder, RunEvent(0.0, "stage_done", stage, 0.5, {"rate": choice.learning_rate}))
        if stage == SCORE:
            told = {"right": gives.right, "nats": gives.nats, "unrelated_kl": gives.kl}
            write_json(files.score, told)
            write_json(files.report(stage), {"seconds": seconds})
            return
        made = files.weights if stage == "train" else files.adapter
        write_whole(made, str(choice.learning_rate).encode())
        write_json(files.report(stage), {"seconds": seconds})
