"""Snapshots that are to be served next, in the order in which they were asked for."""

from __future__ import annotations

import collections
import logging
from collections.abc import Callable
from concurrent.futures import Future

from engine.errors import EngineError, told
from engine.logs import note
from engine.served import ServedSnapshot

log = logging.getLogger("enlace.engine")


class Swaps:
    """A queue of snapshots, each with a future for whoever waits for it. Not safe for several threads at once.

    ``on_swap`` is told of each one that was tried: whether it is served, and for how many seconds it held up answers.
    """

    def __init__(self) -> None:
        self._waiting: collections.deque[tuple[ServedSnapshot, Future[None]]] = collections.deque()
        self.on_swap: Callable[[bool, float], None] = lambda done, seconds: None

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

    def carry_out(
        self,
        served: ServedSnapshot,
        done: Future[None],
        exchange: Callable[[ServedSnapshot], None],
        clock: Callable[[], float],
    ) -> None:
        """Have ``served`` served by ``exchange`` and tell whoever waits for it."""
        begun = clock()
        try:
            exchange(served)
        except Exception as error:
            refusal = told(error)
            note(log, "swap_refused", logging.WARNING, snapshot=served.name, error=refusal)
            self.on_swap(False, clock() - begun)
            done.set_exception(refusal)
        else:
            note(log, "swapped", snapshot=served.name, pause_s=clock() - begun)
            self.on_swap(True, clock() - begun)
            done.set_result(None)

    def refuse_all(self, error: EngineError) -> None:
        """Tell everybody who waits that nothing comes of it."""
        while (taken := self.take()) is not None:
            taken[1].set_exception(error)
