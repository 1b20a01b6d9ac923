from __future__ import annotations

import asyncio
import contextlib
import time

from benchmarks.loop_delay import LoopDelay


async def test_a_blocked_loop_is_seen_in_every_tick_that_fell_due() -> None:
    delay = LoopDelay(period=0.01)
    watching = asyncio.create_task(delay.watch())
    await asyncio.sleep(0.05)
    before = len(delay.delays)
    time.sleep(0.3)
    await asyncio.sleep(0.02)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    stalled = delay.delays[before:]
    assert len(stalled) >= 28
    assert max(stalled) >= 0.28
    # The ticks due late in the stall waited less than the first.
    assert sum(value > 0.15 for value in stalled) < sum(value > 0.05 for value in stalled)


async def test_ticks_are_counted_on_a_fixed_grid() -> None:
    delay = LoopDelay(period=0.02)
    watching = asyncio.create_task(delay.watch())
    started = time.perf_counter()
    await asyncio.sleep(0.5)
    watching.cancel()
    due = (time.perf_counter() - started) / 0.02
    assert due - 2 <= len(delay.delays) + max(delay.delays) / 0.02 + 1
    assert len(delay.delays) <= due
