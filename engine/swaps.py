"""Snapshots that are to be served next, in the order in which they were asked for."""

from __future__ import annotations

import collections
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from engine.errors import EngineError, EngineFailed, told
from engine.futures import refuse, settle
from engine.loaded import Loaded
from engine.logs import note
from engine.served import ServedSnapshot

log = logging.getLogger("enlace.engine")


@dataclass(eq=False)
class Swap:
    """One snapshot, ``done`` when it is served; ``prepared`` when its adapters are at hand, or with what is wrong.

    ``for_all``: every later question gets it; else only those that name its adapters.
    """

    served: ServedSnapshot
    for_all: bool = True
    done: Future[None] = field(default_factory=Future)
    prepared: Future[None] | None = None


class Swaps:
    """A queue of snapshots, whose adapters are loaded and tried in a thread beside the answers.

    ``wake()`` is called when they have been, ``on_swap`` is told of each one that was tried: whether it is served, and
    for how many seconds it held up answers. For one thread, but for ``add``.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: collections.deque[Swap] = collections.deque()
        # One thread for all of them: each new one would bring computing threads and an arena of memory of its own.
        self._preparer = ThreadPoolExecutor(1, thread_name_prefix="preparing swaps")
        self.on_swap: Callable[[bool, float], None] = lambda done, seconds: None

    def add(self, served: ServedSnapshot, *, for_all: bool = True) -> Future[None]:
        """Queue a snapshot; the future of its being served, or of its adapters' being at hand."""
        swap = Swap(served, for_all)
        self._waiting.append(swap)
        return swap.done

    def next(self) -> Swap | None:
        """The first one that somebody still waits for."""
        while self._waiting:
            swap = self._waiting[0]
            if not swap.done.cancelled() or (swap.prepared and not swap.prepared.done()):
                return swap
            self._waiting.popleft()
        return None

    @property
    def due(self) -> bool:
        """Whether there is anything to do for one now, not only to wait for its preparation."""
        swap = self.next()
        return swap is not None and (swap.prepared is None or swap.prepared.done())

    def prepare(self, swap: Swap, loaded: Loaded) -> None:
        """Begin to load and try its adapters over ``loaded``."""
        prepared: Future[None] = Future()
        swap.prepared = prepared

        def work() -> None:
            if prepared.done():
                # No thread could be started for it: it stayed in line for the next one's.
                return
            try:
                loaded.prepare(swap.served.adapters)
            except Exception as error:
                prepared.set_exception(told(error))
            else:
                prepared.set_result(None)
            self._wake()

        try:
            self._preparer.submit(work)
        except RuntimeError as error:
            prepared.set_exception(EngineFailed(reason=str(error)))

    def carry_out(self, swap: Swap, serve: Callable[[Swap], None], clock: Callable[[], float]) -> None:
        """Have it served by ``serve`` and tell whoever waits for it."""
        begun = clock()
        try:
            serve(swap)
        except Exception as error:
            refusal = told(error)
            if swap.for_all:
                note(log, "swap_refused", logging.WARNING, snapshot=swap.served.name, error=refusal)
                self.on_swap(False, clock() - begun)
            self.refuse(swap, refusal)
        else:
            if swap.for_all:
                note(log, "swapped", snapshot=swap.served.name, pause_s=clock() - begun)
                self.on_swap(True, clock() - begun)
            self._waiting.remove(swap)
            settle(swap.done, None)

    def refuse(self, swap: Swap, error: EngineError) -> None:
        """Nothing comes of it."""
        self._waiting.remove(swap)
        refuse(swap.done, error)

    def refuse_all(self, error: EngineError) -> None:
        """Nothing comes of any; returns when none is being prepared any more."""
        self._preparer.shutdown()
        for swap in list(self._waiting):
            self.refuse(swap, error)
