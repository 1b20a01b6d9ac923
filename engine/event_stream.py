"""A response of server-sent events that says that it goes on where there is nothing else to say."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

from starlette.types import Send

from engine.errors import EngineError
from engine.replies import encoded, error_object, send_error

EVENTS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
KEEP_ALIVE = b": still at it\n\n"  # a comment, which every reader of an event stream passes over
DONE = b"data: [DONE]\n\n"


class EventStream:
    """To be used as a context. The response begins with the first event, or with the first sign of life.

    One is given when nothing was sent for ``silent_s`` seconds, whatever is being waited for, so that nobody takes a
    long wait for the end of the engine.
    """

    def __init__(self, send: Send, silent_s: float) -> None:
        self._send = send
        self._silent_s = silent_s
        self._clock = asyncio.get_running_loop().time
        self._sent_at = self._clock()
        self._sending = asyncio.Lock()
        self._keeping_alive = asyncio.create_task(self._keep_alive())
        self._begun = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._keeping_alive.cancel()
        await asyncio.wait([self._keeping_alive])
        if not self._keeping_alive.cancelled():
            self._keeping_alive.result()

    async def event(self, content: Any) -> None:
        """Send ``content`` as JSON in an event of its own."""
        await self._write(b"data: " + encoded(content) + b"\n\n")

    async def fail(self, error: EngineError) -> None:
        """End with ``error``: the whole response, with the status that is its own, where none has begun."""
        self._keeping_alive.cancel()
        async with self._sending:
            if not self._begun:
                await send_error(self._send, error)
                return
        await self.event(error_object(error))
        await self.end()

    async def end(self) -> None:
        """Say that nothing follows."""
        self._keeping_alive.cancel()
        await self._write(DONE, more=False)

    async def _write(self, body: bytes, *, more: bool = True) -> None:
        async with self._sending:
            if not self._begun:
                await self._send({"type": "http.response.start", "status": 200, "headers": EVENTS})
                self._begun = True
            self._sent_at = self._clock()
            await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def _keep_alive(self) -> None:
        while True:
            left = self._sent_at + self._silent_s - self._clock()
            if left > 0:
                await asyncio.sleep(left)
            else:
                await self._write(KEEP_ALIVE)
