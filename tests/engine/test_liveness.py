"""When silence is a hang, and when it is only silence."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.sections.engine import EngineSettings
from engine.heartbeat import Heartbeat
from engine.liveness import DecodingLiveness, EndLiveness, LoopLiveness
from engine.state_file import EngineState, StateFile
from engine.watchdog import Watchdog
from tests.engine.conftest import PATIENCE


@pytest.fixture
def heartbeat(tmp_path: Path) -> Iterator[Heartbeat]:
    made = Heartbeat(tmp_path / "engine.busy")
    yield made
    made.close()


def test_a_step_that_takes_too_long_is_a_hang_and_one_that_ends_in_time_is_none(heartbeat: Heartbeat) -> None:
    liveness = DecodingLiveness(heartbeat)
    heartbeat.set()
    assert [liveness.silent(1, longest=2.5) for _ in range(3)] == [None, None, None]
    heartbeat.set()
    assert [liveness.silent(1, longest=2.5) for _ in range(3)] == [None, None, None]
    assert liveness.silent(1, longest=2.5) == "decoding_hung"


def test_a_decoding_thread_that_has_nothing_to_do_may_be_silent_for_ever(heartbeat: Heartbeat) -> None:
    liveness = DecodingLiveness(heartbeat)
    heartbeat.set()
    heartbeat.clear()
    assert [liveness.silent(1000, longest=1) for _ in range(5)] == [None] * 5


def test_a_decoding_thread_that_is_gone_is_missed_unless_it_was_told_to_go(heartbeat: Heartbeat) -> None:
    liveness = DecodingLiveness(heartbeat)
    thread = threading.Thread(target=heartbeat.clear)
    thread.start()
    thread.join()
    assert liveness.silent(1, longest=100) == "decoding_thread_died"
    heartbeat.close()
    assert liveness.silent(1, longest=100) is None


async def test_an_event_loop_that_answers_is_alive_however_seldom_it_is_asked() -> None:
    liveness = LoopLiveness()
    liveness.watch(asyncio.get_running_loop())
    for _ in range(3):
        assert liveness.silent(1000, longest=1) is None
        await asyncio.sleep(0)


async def test_an_event_loop_that_does_not_come_to_answer_is_a_hang_until_it_is_watched_no_more() -> None:
    liveness = LoopLiveness()
    liveness.watch(asyncio.get_running_loop())
    assert [liveness.silent(1, longest=1.5) for _ in range(3)] == [None, None, "event_loop_hung"]
    liveness.watch(None)
    assert liveness.silent(1000, longest=1) is None


def test_an_end_counts_from_its_beginning() -> None:
    liveness = EndLiveness()
    assert liveness.silent(1000, longest=1) is None
    liveness.begin()
    assert [liveness.silent(1, longest=1.5) for _ in range(2)] == [None, "end_hung"]


class Listener:
    """Something that goes on and keeps what it was told of the time."""

    def __init__(self) -> None:
        self.passed: list[float] = []

    def silent(self, passed: float, longest: float) -> str | None:
        self.passed.append(passed)
        return None


@pytest.fixture
def watched(engine_settings: EngineSettings, tmp_path: Path) -> Iterator[tuple[Watchdog, Listener]]:
    listener = Listener()
    settings = engine_settings.model_copy(update={"watch_s": 0.01, "hang_timeout_s": PATIENCE})

    def fail() -> None:
        raise ValueError

    with tempfile.TemporaryFile() as stacks:
        watchdog = Watchdog(
            settings,
            [listener],
            StateFile(tmp_path, EngineState(1, 0.0, "0", "0", 0, "", 0)),
            stacks,
            resident=lambda: 0,
            drop_caches=lambda: True,
            retire=lambda: True,
            chores=[fail],
        )
        yield watchdog, listener
        watchdog.close()


def test_a_look_that_comes_late_counts_no_more_than_two(watched: tuple[Watchdog, Listener]) -> None:
    watchdog, listener = watched
    with pytest.raises(ValueError):  # noqa: PT011 - the chore's own
        watchdog.look(1000)
    assert listener.passed == [0.02]


def test_a_chore_that_fails_leaves_the_watchdog_looking(watched: tuple[Watchdog, Listener]) -> None:
    watchdog, listener = watched
    watchdog.start()
    deadline = time.monotonic() + PATIENCE
    while len(listener.passed) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(listener.passed) >= 3
