"""Work that is done for a client ends when the client goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")


async def unless_gone(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """What ``work`` returns or raises, for a request whose body has been read.

    Where the client goes away first, the work is cancelled, and what it waits for with it; raises ClientDisconnect
    when that is over.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_until_gone(receive))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
