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
from engine.diary import Diary, Life
from engine.hearts import DecodingHeart, EndHeart, LoopHeart
from engine.pulse import Pulse
from engine.watchdog import Watchdog
from tests.engine.conftest import PATIENCE


@pytest.fixture
def pulse(tmp_path: Path) -> Iterator[Pulse]:
    made = Pulse(tmp_path / "engine.busy")
    yield made
    made.close()


def test_a_step_that_takes_too_long_is_a_hang_and_one_that_ends_in_time_is_none(pulse: Pulse) -> None:
    heart = DecodingHeart(pulse)
    pulse.set()
    assert [heart.silent(1, longest=2.5) for _ in range(3)] == [None, None, None]
    pulse.set()
    assert [heart.silent(1, longest=2.5) for _ in range(3)] == [None, None, None]
    assert heart.silent(1, longest=2.5) == "decoding_hung"


def test_a_decoding_thread_that_has_nothing_to_do_may_be_silent_for_ever(pulse: Pulse) -> None:
    heart = DecodingHeart(pulse)
    pulse.set()
    pulse.clear()
    assert [heart.silent(1000, longest=1) for _ in range(5)] == [None] * 5


def test_a_decoding_thread_that_is_gone_is_missed_unless_it_was_told_to_go(pulse: Pulse) -> None:
    heart = DecodingHeart(pulse)
    thread = threading.Thread(target=pulse.clear)
    thread.start()
    thread.join()
    assert heart.silent(1, longest=100) == "decoding_thread_died"
    pulse.close()
    assert heart.silent(1, longest=100) is None


async def test_an_event_loop_that_answers_is_alive_however_seldom_it_is_asked() -> None:
    heart = LoopHeart()
    heart.watch(asyncio.get_running_loop())
    for _ in range(3):
        assert heart.silent(1000, longest=1) is None
        await asyncio.sleep(0)


async def test_an_event_loop_that_does_not_come_to_answer_is_a_hang_until_it_is_watched_no_more() -> None:
    heart = LoopHeart()
    heart.watch(asyncio.get_running_loop())
    assert [heart.silent(1, longest=1.5) for _ in range(3)] == [None, None, "event_loop_hung"]
    heart.watch(None)
    assert heart.silent(1000, longest=1) is None


def test_an_end_counts_from_its_beginning() -> None:
    heart = EndHeart()
    assert heart.silent(1000, longest=1) is None
    heart.begin()
    assert [heart.silent(1, longest=1.5) for _ in range(2)] == [None, "end_hung"]


class Listener:
    """A heart that is well and keeps what it was told of the time."""

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
            Diary(tmp_path, Life(1, 0.0, "0", "0", 0, "", 0)),
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
