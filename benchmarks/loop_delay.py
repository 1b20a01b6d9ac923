"""How late an event loop gets to what is due: what a person feels as a stutter."""

from __future__ import annotations

import asyncio
import time


class LoopDelay:
    """Ticks due every ``period`` seconds; ``delays`` holds, in seconds, how late the loop came to each.

    Ticks that fall due while the loop is blocked count one by one, each with its own lateness: a stall of half
    a second is fifty late ticks, as it would be fifty late keys, and not one.
    """

    def __init__(self, period: float = 0.01) -> None:
        self.period = period
        self.delays: list[float] = []

    async def watch(self) -> None:
        """Measure until cancelled."""
        due = time.perf_counter() + self.period
        while True:
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            now = time.perf_counter()
            while due <= now:
                self.delays.append(now - due)
                due += self.period
