"""Where HTTP comes in: what is no HTTP is refused in our own form, every request is counted, none comes in too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.errors import EngineStopping, RequestWrong
from engine.replies import encoded, error_object, send_error

OTHER = "other"
# What brings it nearer to its end.
BY_ITSELF = frozenset({"/cancel", "/shutdown"})


class Doorway:
    """An ASGI application around the engine's own.

    ``count(route, status)`` is called once a request. While ``leaving()`` holds, the engine is about to end, and new
    work is refused with EngineStopping, at which a client waits for the next one.
    """

    def __init__(
        self,
        inner: ASGIApp,
        routes: Collection[str],
        count: Callable[[str, int], None],
        leaving: Callable[[], bool],
    ) -> None:
        self._inner = inner
        self._routes = frozenset(routes)
        self._count = count
        self._leaving = leaving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        path, status = scope["path"], 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if scope["method"] == "POST" and path not in BY_ITSELF and self._leaving():
                await send_error(noting, EngineStopping())
            else:
                await self._inner(scope, receive, noting)
        finally:
            self._count(path if path in self._routes else OTHER, status)


def protocol(longest: float, count: Callable[[str, int], None]) -> type[H11Protocol]:
    """uvicorn's HTTP/1.1 for a server whose requests must arrive in ``longest`` seconds, but for their bodies."""

    class Protocol(H11Protocol):
        """Refuses what is no HTTP with our error object, and closes a connection that says nothing."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            if self._idle() and self._late is None:
                self._expect()
            super().data_received(data)
            if not self._idle():
                self._stop_expecting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_expecting()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            """Called where what came is no valid HTTP/1.1 request: other bytes, a head too long, two lengths."""
            count(OTHER, 400)
            content = encoded(error_object(RequestWrong(field="http", reason="no valid HTTP/1.1 request")))
            headers = [
                ("content-type", "application/json"),
                ("content-length", str(len(content))),
                ("connection", "close"),
            ]
            try:
                for event in (
                    h11.Response(status_code=400, headers=headers),
                    h11.Data(data=content),
                    h11.EndOfMessage(),
                ):
                    self.transport.write(self.conn.send(event) or b"")
            except h11.LocalProtocolError:
                # An answer to this very request is on its way already; all that is left to say is goodbye.
                pass
            self.transport.close()

        def _idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _expect(self) -> None:
            self._late = self.loop.call_later(longest, self._too_late)

        def _stop_expecting(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _too_late(self) -> None:
            if self._idle() and not self.transport.is_closing():
                self.transport.close()

    return Protocol
