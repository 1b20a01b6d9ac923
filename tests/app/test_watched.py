"""How long a run will still take is told by its pace, by the run before it, or by what is done; a pause takes none."""

from __future__ import annotations

import pytest

from app.watched import Watched
from memory.runlog import RunEvent

STAGES = ["prepare", "train", "export", "evaluate"]
BEFORE = {"prepare": 60.0, "train": 600.0, "export": 10.0, "evaluate": 120.0}


def watched(before: dict[str, float] = BEFORE) -> Watched:
    """A run that began at 1000."""
    made = Watched("r0002", 1000.0, before)
    made.take(RunEvent(1000.0, "planned", "", None, {"stages": STAGES}))
    return made


def at(run: Watched, time: float, kind: str, stage: str = "", fraction: float | None = None, **facts: object) -> None:
    run.take(RunEvent(time, kind, stage, fraction, facts))


def step(run: Watched, time: float, number: int) -> None:
    at(run, time, "step", "train", None, loss=1.0, step=number, steps=100)


def test_the_run_before_tells_until_there_are_steps_and_then_they_do() -> None:
    run = watched()
    at(run, 1000.0, "stage_started", "prepare")
    assert run.seconds_left(1010.0) == 50 + 600 + 10 + 120
    at(run, 1080.0, "stage_done", "prepare", seconds=80.0)
    at(run, 1080.0, "stage_started", "train")
    assert run.seconds_left(1080.0) == 600 + 10 + 120
    step(run, 1083.0, 1)
    step(run, 1093.0, 11)
    assert run.seconds_left(1093.0) == 89 + 10 + 120
    assert run.seconds_left(1095.0) == 87 + 10 + 120
    at(run, 1200.0, "stage_done", "train", seconds=120.0)
    assert run.seconds_left(1200.0) == 10 + 120
    run.take(RunEvent(1200.0, "stage_skipped", facts={"stage": "export", "run": "r0001"}))
    at(run, 1200.0, "stage_started", "evaluate")
    # Its steps were those of another stage.
    assert run.seconds_left(1210.0) == 110


def test_the_loss_is_that_of_the_stage_that_runs() -> None:
    run = watched()
    at(run, 1000.0, "stage_started", "train")
    assert run.loss is None
    step(run, 1001.0, 1)
    assert run.loss == 1.0
    at(run, 1002.0, "stage_started", "export")
    assert run.loss is None


def test_without_a_run_before_the_share_that_is_done_tells() -> None:
    run = watched({})
    at(run, 1000.0, "stage_started", "prepare", 0.0)
    assert run.seconds_left(1001.0) is None
    at(run, 1100.0, "progress", "prepare", 0.25)
    assert run.seconds_left(1100.0) == pytest.approx(300.0)


def test_a_pause_counts_for_nothing() -> None:
    run = watched()
    at(run, 1000.0, "stage_done", "prepare", seconds=0.0)
    at(run, 1000.0, "stage_started", "train")
    step(run, 1001.0, 1)
    step(run, 1002.0, 2)
    at(run, 1002.0, "paused", who="Ana")
    assert run.seconds_left(5000.0) is None
    at(run, 5002.0, "resumed")
    assert run.seconds_left(5002.0) == 600 - 2 + 10 + 120
    step(run, 5003.0, 3)
    step(run, 5005.0, 5)
    assert run.seconds_left(5005.0) == 95 + 10 + 120


def test_of_a_training_with_other_numbers_nothing_is_promised() -> None:
    run = watched()
    at(run, 1000.0, "stage_started", "train", 0.5)
    at(run, 1001.0, "choice_started", learning_rate=1e-4)
    assert run.seconds_left(1001.0) is None
