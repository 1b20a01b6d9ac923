"""Work beside the answers: cut into steps, so that nobody's answer waits for more than one of them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import EngineError, told
from engine.futures import refuse, settle

if TYPE_CHECKING:
    from engine.loaded import Loaded

T = TypeVar("T")
Steps = Callable[["Loaded"], Generator[None, None, T]]


@dataclass(eq=False)
class _Task:
    steps: Steps[Any]
    done: Future[Any] = field(default_factory=Future)
    running: Generator[None, None, Any] | None = None


class BackgroundTasks:
    """First come, first served: the first ``most`` of them take turns, a ``step`` each. Any thread may ``add``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: collections.deque[_Task] = collections.deque()
        self._taken: collections.deque[_Task] = collections.deque()

    def __bool__(self) -> bool:
        return bool(self._taken or self._waiting)

    @property
    def begun(self) -> bool:
        """Whether one of them is under way, with what was loaded when it began."""
        return bool(self._taken)

    def add(self, steps: Steps[T]) -> Future[T]:
        """Queue what the generator ``steps(loaded)`` does and returns; cancelling the future ends it early."""
        task = _Task(steps)
        self._waiting.append(task)
        return task.done

    def step(self, loaded: Loaded, *, begin: bool) -> None:
        """Advance the one whose turn it is by a step; ``begin``: whether another one may be begun."""
        if begin and self._waiting and len(self._taken) < self._most:
            # It comes before those that had a turn: a short one is over at once.
            self._taken.appendleft(self._waiting.popleft())
        if not self._taken:
            return
        task = self._taken[0]
        self._taken.rotate(-1)
        if task.done.cancelled():
            self._end(task)
            return
        try:
            if task.running is None:
                task.running = task.steps(loaded)
            next(task.running)
        except StopIteration as end:
            self._end(task)
            settle(task.done, end.value)
        except Exception as error:
            self._end(task)
            refuse(task.done, told(error))

    def refuse_all(self, error: EngineError) -> None:
        """End every one with ``error``."""
        self._taken += self._waiting
        self._waiting.clear()
        while self._taken:
            task = self._taken[0]
            self._end(task)
            refuse(task.done, error)

    def _end(self, task: _Task) -> None:
        self._taken.remove(task)
        if task.running is not None:
            task.running.close()
