"""A stage is held while somebody is answered, but not for ever, and goes on afterwards."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.home import Home
from tests.trainer.test_pausing import WITHIN, Stage, until
from trainer.making_room import MakingRoom

LONGEST = 30.0


class Household:
    """What a test says of its processes, of who is answered, and of the time."""

    def __init__(self) -> None:
        self.held = False
        self.answering = False
        self.now = 100.0
        self.room = MakingRoom(self, lambda: self.answering, LONGEST, lambda: self.now)

    def hold(self) -> None:
        self.held = True

    def go_on(self) -> None:
        self.held = False

    def after(self, seconds: float, *, answering: bool) -> bool:
        """Whether they are held then."""
        self.now += seconds
        self.answering = answering
        self.room.look()
        return self.held


def test_processes_are_held_as_long_as_somebody_is_answered() -> None:
    house = Household()
    assert [house.after(1, answering=each) for each in (False, True, True, False, True)] == [
        False, True, True, False, True,
    ]  # fmt: skip
    # Whatever let them go on: somebody is answered still.
    house.go_on()
    assert house.after(1, answering=True)


def test_a_family_that_never_stops_asking_has_its_training_go_on_half_of_the_time() -> None:
    house = Household()
    assert house.after(1, answering=True)
    assert house.after(LONGEST - 1, answering=True)
    assert not house.after(1, answering=True)
    assert not house.after(LONGEST - 1, answering=True)
    assert house.after(1, answering=True)


@pytest.fixture
def stage(home: Home, starter: Path) -> Iterator[Stage]:
    """The real first stage, while somebody is answered."""
    with home.busy_flag.open("ab") as flag:
        fcntl.flock(flag, fcntl.LOCK_EX)
        stage = Stage(home, starter)
        until(stage.is_held)
        yield stage
    stage.stop.set()
    stage.ended()


def test_a_real_stage_uses_no_processor_meanwhile_and_ends_at_once_when_it_is_told_to(stage: Stage) -> None:
    worker = stage.worker
    assert worker is not None
    used = worker.cpu_times()
    time.sleep(0.3)
    assert worker.cpu_times() == used
    begun = time.monotonic()
    stage.stop.set()
    stage.ended()
    # Not after the grace that is for what does not hear.
    assert time.monotonic() - begun < WITHIN / 10
