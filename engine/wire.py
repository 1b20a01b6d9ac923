"""One HTTP/1.1 exchange over a stream, on asyncio's streams and h11.

httpx would do the same, but importing it and the async backend it loads at the first request costs about
200 ms, more than everything else that a second ``enlace ask`` does before its answer arrives.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import h11

from engine.sse import EventReader, EventTooLong

READ_SIZE = 65536
HOST = "engine"
JSON = "application/json"
LONGEST_REPLY = 1 << 26
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Header = tuple[str, str]


class ConnectionLost(Exception):
    """Nobody answers there, or the answer broke off."""


class NobodyThere(ConnectionLost):
    """Nothing listens there."""


class TookTooLong(ConnectionLost):
    """No sign of life within the time that was given."""


class Garbled(ConnectionLost):
    """What came is not what was to come: no HTTP, no JSON, or no end to it."""


class Place(Protocol):
    """Somewhere that speaks HTTP: ``host`` as the header says it, ``prefix`` before every target."""

    @property
    def host(self) -> str: ...
    @property
    def prefix(self) -> str: ...
    @property
    def headers(self) -> tuple[Header, ...]: ...
    async def open(self) -> Streams: ...  # raises ConnectionLost


@dataclass(frozen=True)
class SocketPlace:
    """A Unix socket."""

    path: Path
    host: str = HOST
    prefix: str = ""
    headers: tuple[Header, ...] = field(default=(), repr=False)

    async def open(self) -> Streams:
        """Raises NobodyThere."""
        try:
            return await asyncio.open_unix_connection(str(self.path))
        except OSError as error:
            raise NobodyThere(str(error)) from error


class Exchange:
    """One request and its answer. Closing it (also in mid-answer) closes the connection, which cancels the work.

    ``timeout`` is the longest silence in seconds, ``longest`` the most bytes of a reply, or of one event of a
    stream, that are read. Every method raises ConnectionLost.
    """

    def __init__(self, place: Place | Path, timeout: float, *, longest: int = LONGEST_REPLY) -> None:
        self._place = SocketPlace(place) if isinstance(place, Path) else place
        self._timeout = timeout
        self._longest = longest
        self._http = h11.Connection(h11.CLIENT)
        self._streams: Streams | None = None
        self.headers: dict[str, str] = {}

    async def send(self, method: str, target: str, body: Any | None = None) -> int:
        """Send a request with ``body`` as JSON; the status of the answer, whose headers are in ``headers`` then."""
        content = b"" if body is None else json.dumps(body).encode()
        return await self.send_bytes(method, target, [content], len(content), JSON)

    async def send_bytes(self, method: str, target: str, pieces: Iterable[bytes], size: int, kind: str) -> int:
        """Send a request whose body is ``pieces``, ``size`` bytes of the media type ``kind``; the answer's status."""
        headers = [("Host", self._place.host), ("Content-Length", str(size)), ("Content-Type", kind)]
        self._streams = await self._place.open()
        request = h11.Request(
            method=method, target=self._place.prefix + target, headers=[*headers, *self._place.headers]
        )
        try:
            await self._write(request)
            for piece in pieces:
                await self._write(h11.Data(data=piece))
            await self._write(h11.EndOfMessage())
        except OSError as error:
            # A server that refuses a large body may have answered before it closed.
            if not isinstance(error, ConnectionError):
                raise ConnectionLost(str(error)) from error
        return await self._status()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body of the answer as it comes."""
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return

    async def content(self) -> bytes:
        """The whole body."""
        content = bytearray()
        async for chunk in self.chunks():
            content += chunk
            if len(content) > self._longest:
                raise Garbled(f"longer than {self._longest} bytes")
        return bytes(content)

    async def json(self) -> Any:
        """The whole body, read as JSON."""
        return _read_json(await self.content())

    async def server_events(self) -> AsyncIterator[Any]:
        """The data of a stream of server-sent events, each read as JSON, up to ``[DONE]``."""
        reader = EventReader(self._longest)
        async for chunk in self.chunks():
            try:
                for data in reader.feed(chunk):
                    if data.strip() == "[DONE]":
                        return
                    yield _read_json(data)
            except EventTooLong as error:
                raise Garbled(f"an event longer than {self._longest} bytes") from error
        raise ConnectionLost("the stream ended early")

    async def json_lines(self) -> AsyncIterator[Any]:
        """The lines of the body, each read as JSON, to the body's end."""
        kept = b""
        async for chunk in self.chunks():
            *lines, kept = (kept + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield _read_json(line)
            if len(kept) > self._longest:
                raise Garbled(f"a line longer than {self._longest} bytes")
        if kept.strip():
            yield _read_json(kept)

    def close(self) -> None:
        """Close the connection; harmless when it is closed already."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _write(self, event: h11.Event) -> None:
        if self._streams is None:
            raise ConnectionLost("the connection is closed")
        writer = self._streams[1]
        writer.write(self._http.send(event) or b"")
        try:
            async with asyncio.timeout(self._timeout):
                await writer.drain()
        except TimeoutError as error:
            raise TookTooLong(f"{self._timeout:g} s") from error

    async def _status(self) -> int:
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response):
                self.headers = {bytes(name).decode(): bytes(value).decode("latin-1") for name, value in event.headers}
                return event.status_code

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
        except TimeoutError as error:
            raise TookTooLong(f"{self._timeout:g} s") from error
        except h11.RemoteProtocolError as error:
            raise _broken(error) from error
        except OSError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


def _broken(error: h11.RemoteProtocolError) -> ConnectionLost:
    """h11 tells a body that ends early and bytes that are no HTTP by one class of error."""
    text = str(error)
    return ConnectionLost(text) if "closed" in text or "without sending" in text else Garbled(text)


def _read_json(content: bytes | str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Garbled(f"not JSON: {error}"[:200]) from error
