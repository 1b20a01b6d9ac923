"""``python -m tests.trainer.killed_training RUN_DIR:N:P…``: the stage ``train`` over and over, each in P processes.

The last process of one of number N is killed before its Nth micro-step (0: it is not), forwards of the frozen base
counted too. The kill is SIGKILL, from within, so that it comes at exactly this place. On stdout: how the processes of
each ended, as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from configs.home import Home
from memory import runlog
from memory.runlog import RunEvent
from tests.trainer.random_model import VOCABULARY, write_random_model
from tests.trainer.stages import inputs_for
from trainer.courtesy import Courtesy
from trainer.errors import ProcessLost
from trainer.pipeline.artifacts import TrainingData
from trainer.pipeline.sources import base_of, begun_of
from trainer.place import Place
from trainer.run_files import RunFiles, read_inputs, write_json
from trainer.stages.context import StageContext

RECIPE: dict[str, Any] = {
    "batch": 3,
    "preference_weight": 0.5,
    "replay": {"kept_tokens": 8, "batch": 2},
    "lora": {"rank": 4, "alpha": 8},
    # Several micro-batches in each step, so that a kill meets a step with half of its gradient.
    "optimiser": {"epochs": 3, "least_steps": 0, "micro_batch_tokens": 64},
}
LOST = 7  # how a process ends that has lost another
LESSONS, REPLAYED = 12, 5
STEPS = 3 * LESSONS // 3


class KilledAt(Courtesy):
    """Never waits; kills this process the ``number``-th time that it is asked."""

    def __init__(self, number: int) -> None:
        self._left = number
        self.waited = 0.0

    def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def prepared_run(
    home: Home, name: str, *, recipe: dict[str, Any] | None = None, training: dict[str, Any] | None = None
) -> RunFiles:
    """A run of a small random model that stands before its stage ``train``; a checkpoint after every step."""
    changes = {
        "recipes": {"family": RECIPE | (recipe or {})},
        "threads": 2,
        "precision": "float32",
        "budget": {"checkpoint_seconds": 0},
        **(training or {}),
    }
    base = home.models / "random.gguf"
    if not base.exists():
        write_random_model(base, "llama", layers=2)
    files = RunFiles(home.runs / name)
    inputs = inputs_for(home, base, changes)
    write_json(files.inputs, inputs.as_json())
    write_json(files.data, _data())
    files.stage("train").mkdir()
    return files


def _data() -> dict[str, Any]:
    random = np.random.default_rng(3)

    def some(least: int, most: int) -> list[int]:
        return [int(token) for token in random.integers(0, VOCABULARY, random.integers(least, most))]

    lessons = []
    for number in range(LESSONS):
        prompt = [*range(8), *some(6, 16)]
        items = [{"prompt": prompt, "answer": some(4, 12)} for _ in ("chosen", "rejected")]
        lessons.append({"lesson": str(number), "in_turn": False, "items": items})
    replay = [{"prompt": [*range(8), *some(6, 16)], "answer": some(4, 12)} for _ in range(REPLAYED)]
    nothing = ("ratings", "taught", "unrelated", "questions", "other_language")
    none: dict[str, list[Any]] = {name: [] for name in nothing}
    return {"examples": lessons, "replay": replay, **none}


def main(trainings: list[str]) -> None:
    """Fork for each: torch is imported once, and has no threads yet that a fork would lose."""
    importlib.import_module("torch._dynamo")  # seconds, which each optimiser else would take for itself
    importlib.import_module("trainer.stages.train")
    statuses = []
    for training in trainings:
        folder, number, count = training.rsplit(":", 2)
        files, children = RunFiles(Path(folder)), []
        files.meeting.unlink(missing_ok=True)
        for rank in range(int(count)):
            child = os.fork()
            if not child:
                _train(files, Place(rank, int(count), int(count)), int(number))
                return
            children.append(child)
        statuses.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
    sys.stdout.write(json.dumps(statuses))


def _train(files: RunFiles, place: Place, number: int) -> None:
    from trainer.stages.train import train_adapter

    def emit(kind: str, share: float, facts: Any) -> None:
        if place.first:
            runlog.append(files.folder, RunEvent(0.0, kind, "train", share, facts))

    killed_at = KilledAt(number if place.rank == place.size - 1 else 0)
    context = StageContext(files, read_inputs(files), emit, killed_at, place)
    try:
        train_adapter(context, TrainingData.at(files.data), base_of(context.inputs), begun_of(context.inputs))
    except ProcessLost:
        sys.exit(LOST)
    if place.first:
        write_json(files.report("train"), context.report)


if __name__ == "__main__":
    main(sys.argv[1:])
