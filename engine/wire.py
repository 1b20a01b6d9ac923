"""One HTTP/1.1 exchange over a Unix socket, on asyncio streams and h11.

httpx would do the same, but importing it and the async backend it loads at the first request costs about
200 ms, more than everything else that a second ``enlace ask`` does before its answer arrives.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import h11

READ_SIZE = 65536
HOST = "engine"


class ConnectionLost(Exception):
    """Nobody answers at the socket, or the answer broke off."""


class NobodyThere(ConnectionLost):
    """Nothing listens at the socket."""


class Exchange:
    """One request and its answer. Closing it (also in mid-answer) closes the connection, which cancels the work.

    ``timeout`` is the longest silence in seconds. Every method raises ConnectionLost.
    """

    def __init__(self, socket: Path, timeout: float) -> None:
        self._socket = socket
        self._timeout = timeout
        self._http = h11.Connection(h11.CLIENT)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, target: str, body: Any | None = None) -> int:
        """Send a request with ``body`` as JSON; the status of the answer."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("Host", HOST), ("Content-Length", str(len(content))), ("Content-Type", "application/json")]
        try:
            reader, writer = await asyncio.open_unix_connection(str(self._socket))
        except OSError as error:
            raise NobodyThere(str(error)) from error
        self._streams = reader, writer
        try:
            writer.write(self._http.send(h11.Request(method=method, target=target, headers=headers)) or b"")
            writer.write(self._http.send(h11.Data(data=content)) or b"")
            writer.write(self._http.send(h11.EndOfMessage()) or b"")
            async with asyncio.timeout(self._timeout):
                await writer.drain()
        except OSError as error:
            raise ConnectionLost(str(error)) from error
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response):
                return event.status_code

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body of the answer as it comes."""
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return

    async def json(self) -> Any:
        """The whole body, read as JSON."""
        try:
            return json.loads(b"".join([chunk async for chunk in self.chunks()]))
        except ValueError as error:
            raise ConnectionLost(f"not JSON: {error}") from error

    async def server_events(self) -> AsyncIterator[Any]:
        """The ``data:`` lines of a stream of server-sent events, each read as JSON, up to ``[DONE]``."""
        kept = b""
        async for chunk in self.chunks():
            *lines, kept = (kept + chunk).split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    content = line.removeprefix(b"data:").strip()
                    if content == b"[DONE]":
                        return
                    yield json.loads(content)
        raise ConnectionLost("the stream ended early")

    def close(self) -> None:
        """Close the connection; harmless when it is closed already."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _next_event(self) -> h11.Event:
        if self._streams is None:
            raise ConnectionLost("the connection is closed")
        try:
            while True:
                event = self._http.next_event()
                if isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                    raise ConnectionLost("the connection was closed")
                if isinstance(event, h11.Event):
                    return event
                async with asyncio.timeout(self._timeout):
                    self._http.receive_data(await self._streams[0].read(READ_SIZE))
        except (OSError, h11.ProtocolError, TimeoutError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
