"""Work beside the answers takes turns, a few at a time."""

from __future__ import annotations

import threading
from collections.abc import Generator

from engine.background import BackgroundTasks
from engine.loaded import Loaded
from tests.engine.conftest import PATIENCE, Desk


def test_a_short_task_does_not_wait_for_the_end_of_a_long_one(desk: Desk) -> None:
    over = threading.Event()

    def long(_loaded: Loaded) -> Generator[None, None, None]:
        while not over.is_set():
            yield

    def short(loaded: Loaded) -> Generator[None, None, int]:
        yield
        return loaded.vocabulary.size

    first = desk.scheduler.run_in_background(long)
    try:
        assert desk.scheduler.run_in_background(short).result(timeout=PATIENCE / 4) > 40_000
        assert not first.done()
    finally:
        over.set()
    first.result(timeout=PATIENCE)


def test_no_more_are_begun_than_may_run_and_none_that_was_held_back(desk: Desk) -> None:
    loaded, background_tasks = desk.scheduler.loaded, BackgroundTasks(2)
    begun: list[str] = []

    def steps(name: str, count: int) -> None:
        def run(_loaded: Loaded) -> Generator[None, None, None]:
            begun.append(name)
            for _ in range(count):
                yield

        background_tasks.add(run)

    steps("long", 9)
    steps("short", 1)
    steps("third", 1)
    for _ in range(3):
        background_tasks.step(loaded, begin=True)
    assert begun == ["long", "short"]
    while background_tasks.begun:
        background_tasks.step(loaded, begin=False)
    assert begun == ["long", "short"]
    while background_tasks:
        background_tasks.step(loaded, begin=True)
    assert begun == ["long", "short", "third"]


def test_the_long_one_counts_as_begun_whose_turn_ever_it_is(desk: Desk) -> None:
    loaded, background_tasks = desk.scheduler.loaded, BackgroundTasks(2)

    def twice(_loaded: Loaded) -> Generator[None, None, None]:
        yield
        yield

    first, second = background_tasks.add(twice), background_tasks.add(twice)
    assert not background_tasks.begun
    while not first.done():
        background_tasks.step(loaded, begin=True)
        assert background_tasks.begun or second.done()
    assert background_tasks.begun
    assert not second.done()
    while background_tasks:
        background_tasks.step(loaded, begin=True)
    assert not background_tasks.begun
