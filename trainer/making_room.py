"""While somebody is answered, the processes of a stage are held wherever they are, and not between micro-steps alone.

At idle priority they leave the processor to the engine, but not the memory and the caches, and a micro-step may take
as long as an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Held(Protocol):
    """What can be held, and go on."""

    def hold(self) -> None: ...

    def go_on(self) -> None: ...


class MakingRoom:
    """``look`` is to be called all the time. They are held for ``longest`` seconds at most, and then not again for as
    long, so that a training goes on under a family that never stops asking; ``clock``: in seconds.
    """

    def __init__(
        self, held: Held, answering: Callable[[], bool], longest: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._processes = held
        self._answering = answering
        self._longest = longest
        self._clock = clock
        self._held_since: float | None = None
        self._free_until = clock()

    def look(self) -> None:
        """Hold them, or let them go on, as it is to be now."""
        now, answering = self._clock(), self._answering()
        if self._held_since is None:
            if not answering or now < self._free_until:
                return
            self._held_since = now
        elif not answering or now - self._held_since >= self._longest:
            self._free_until = now + self._longest if answering else now
            self._held_since = None
            self._processes.go_on()
            return
        # Also where somebody else let them go on meanwhile.
        self._processes.hold()
