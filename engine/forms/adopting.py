"""A running engine takes up what is on record now: another snapshot, or the same one in another form."""

from __future__ import annotations

import asyncio

from configs.home import Home
from engine.scheduler import Scheduler
from engine.served import read_served


async def serve_anew(home: Home, scheduler: Scheduler, digest: str) -> None:
    """Have the snapshot ``digest`` served as its records say now; returns at once when it is.

    Raises what ``read_served`` and the swap raise.
    """
    served = await asyncio.get_running_loop().run_in_executor(None, read_served, home, digest)
    if served != scheduler.loaded.served:
        await asyncio.wrap_future(scheduler.swap(served))
