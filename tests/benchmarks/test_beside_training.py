"""Answers beside a training are set beside those at rest, and the training is held by nothing but a pause."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from benchmarks.beside_training import _rows, _Training
from benchmarks.plan import load_plan
from benchmarks.streaming import Streamed
from configs.home import Home
from memory.pausing import paused

# A supervisor with one stage, which stops where trainings are paused, as the trainer's does.
SUPERVISOR = """
import os, signal, subprocess, sys, time
stage = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
while True:
    stage.send_signal(signal.SIGSTOP if os.path.exists(sys.argv[1]) else signal.SIGCONT)
    time.sleep(0.01)
"""


def answered(first_s: float, speed: float) -> Streamed:
    return Streamed(first_s, 10, speed, 20, "words", 0.0, (), "v0")


def test_a_row_is_the_median_beside_over_that_at_rest_and_its_note_has_the_rounds() -> None:
    beside = [answered(0.12, 95), answered(0.10, 96), answered(0.30, 50)]
    at_rest = [answered(0.10, 100), answered(0.10, 100), answered(0.10, 100)]
    writing, first = _rows("train", beside, at_rest)
    assert (writing.value, writing.peer_value, writing.ok) == (95, 100, True)
    assert first.value == pytest.approx(120)
    assert first.ok is True
    assert "0.50 to 0.96" in writing.note
    slower, later = _rows("train", [answered(0.13, 90)], [answered(0.10, 100)])
    assert (slower.ok, later.ok) == (False, False)


@pytest.fixture
def supervisor(home: Home) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(home.training_paused)])
    yield process
    for child in psutil.Process(process.pid).children():
        child.kill()
    process.kill()
    process.wait()


def test_a_training_is_at_rest_when_its_stage_is_held_and_beside_when_it_works(
    home: Home, supervisor: subprocess.Popen[bytes]
) -> None:
    plan = load_plan(quick=True).beside_training.model_copy(update={"settle_s": 0.0, "timeout_s": 20.0})
    training = _Training(home, supervisor, plan)
    training.hold()
    (stage,) = psutil.Process(supervisor.pid).children()
    assert stage.status() == psutil.STATUS_STOPPED
    training.go_on()
    assert stage.status() != psutil.STATUS_STOPPED
    assert paused(home) is None
