"""Snapshots that are to be served next, in the order in which they were asked for."""

from __future__ import annotations

import collections
from concurrent.futures import Future

from engine.errors import EngineError
from engine.served import ServedSnapshot


class Swaps:
    """A queue of snapshots, each with a future for whoever waits for it. Not safe for several threads at once."""

    def __init__(self) -> None:
        self._waiting: collections.deque[tuple[ServedSnapshot, Future[None]]] = collections.deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, served: ServedSnapshot) -> Future[None]:
        """Queue a snapshot; the future of its being served."""
        done: Future[None] = Future()
        self._waiting.append((served, done))
        return done

    def take(self) -> tuple[ServedSnapshot, Future[None]] | None:
        """The next one that somebody still waits for, and no longer in the queue."""
        while self._waiting:
            served, done = self._waiting.popleft()
            # A future that was cancelled takes no result: its asker has gone away.
            if done.set_running_or_notify_cancel():
                return served, done
        return None

    def refuse_all(self, error: EngineError) -> None:
        """Tell everybody who waits that nothing comes of it."""
        while (taken := self.take()) is not None:
            taken[1].set_exception(error)
