"""How fast something arrives, and how long it will take."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

# The share of the window after which its speed says something.
SETTLES = 0.2


class Meter:
    """Counts bytes over the last ``window_s`` seconds of ``clock``."""

    def __init__(self, window_s: float, clock: Callable[[], float]) -> None:
        self._window_s, self._clock = window_s, clock
        self._arrived: deque[tuple[float, int]] = deque()
        self._sum = 0
        self._began = clock()

    def add(self, count: int) -> None:
        """``count`` bytes arrived now."""
        self._arrived.append((self._clock(), count))
        self._sum += count

    def rate(self) -> float:
        """Bytes a second."""
        now = self._clock()
        while self._arrived and self._arrived[0][0] < now - self._window_s:
            self._sum -= self._arrived.popleft()[1]
        passed = min(self._window_s, now - self._began)
        return self._sum / passed if passed > 0 else 0.0

    def left(self, missing: int) -> float | None:
        """Seconds until ``missing`` more bytes are there; None while nothing arrives, and before it has settled."""
        settled = self._clock() - self._began >= SETTLES * self._window_s
        rate = self.rate()
        return missing / rate if settled and rate > 0 else None
