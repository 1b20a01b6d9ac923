"""Servers of other people's software, as their documentation describes them, and the ways in which they fail.

llama-server: github.com/ggml-org/llama.cpp, tools/server/README.md; vLLM: docs.vllm.ai/en/latest/features/lora.html;
Ollama: github.com/ollama/ollama, docs/api.md. The shapes of llama-server's replies are those of a real one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import h11

WORDS = ("Hola", ", ", "soy ", "yo", ".")


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """``pieces`` are written one after the other; ``hold`` waits before each; ``cut`` ends without an end."""

    status: int = 200
    kind: str = "application/json"
    pieces: tuple[bytes, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    hold: float = 0.0
    cut: bool = False


def as_json(content: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(status, pieces=(json.dumps(content).encode(),), headers=tuple(headers.items()))


def refusal(status: int, message: str) -> Reply:
    """An error in OpenAI's form."""
    return as_json({"error": {"code": status, "message": message, "type": "some_error"}}, status)


def event(content: Any) -> bytes:
    return b"data: " + json.dumps(content, ensure_ascii=False).encode() + b"\n\n"


Fault = Callable[[Asked], Reply | None]


def always(reply: Reply, target: str = "") -> Fault:
    """The same reply to every request for ``target``, or to every one at all."""
    return lambda asked: reply if not target or asked.target == target else None


class Double:
    """A server on a loopback port. ``faults`` come first: each is asked for a reply instead of the right one."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.faults: deque[Fault] = deque()
        self.cut_off = 0
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def fail_once(self, reply: Reply, target: str) -> None:
        """The next request for ``target`` is answered so."""

        def fault(asked: Asked) -> Reply | None:
            if asked.target != target:
                return None
            self.faults.remove(fault)
            return reply

        self.faults.append(fault)

    def targets(self) -> list[str]:
        return [asked.target for asked in self.asked]

    def last(self, target: str) -> Asked:
        return next(asked for asked in reversed(self.asked) if asked.target == target)

    def reply(self, asked: Asked) -> Reply:
        """The right answer to a request."""
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()

    @contextlib.contextmanager
    def in_a_thread(self) -> Iterator[None]:
        """For commands, which have an event loop of their own."""
        ready, ending = threading.Event(), threading.Event()

        async def run() -> None:
            async with self.running():
                ready.set()
                while not ending.is_set():
                    await asyncio.sleep(0.01)

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        ready.wait(10)
        try:
            yield
        finally:
            ending.set()
            thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        http = h11.Connection(h11.SERVER)
        try:
            asked = await self._read(http, reader)
            self.asked.append(asked)
            reply = next((made for fault in list(self.faults) if (made := fault(asked)) is not None), None)
            await self._write(http, writer, reader, reply or self.reply(asked), asked.method)
        except (ConnectionError, h11.RemoteProtocolError):
            self.cut_off += 1
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _read(self, http: h11.Connection, reader: asyncio.StreamReader) -> Asked:
        request, body = None, bytearray()
        while True:
            happened = http.next_event()
            if happened is h11.NEED_DATA:
                http.receive_data(await reader.read(65536))
            elif isinstance(happened, h11.Request):
                request = happened
            elif isinstance(happened, h11.Data):
                body += happened.data
            elif isinstance(happened, h11.EndOfMessage) and request is not None:
                headers = {bytes(name).decode(): bytes(value).decode() for name, value in request.headers}
                return Asked(request.method.decode(), request.target.decode(), headers, bytes(body))
            elif isinstance(happened, h11.ConnectionClosed):
                raise ConnectionResetError

    async def _write(
        self,
        http: h11.Connection,
        writer: asyncio.StreamWriter,
        reader: asyncio.StreamReader,
        reply: Reply,
        method: str,
    ) -> None:
        headers = [("Content-Type", reply.kind), ("Connection", "close"), *reply.headers]
        head = http.send(h11.Response(status_code=reply.status, headers=headers))
        writer.write(head or b"")
        gone = asyncio.ensure_future(reader.read(1))
        for piece in reply.pieces if method != "HEAD" else ():
            if reply.hold:
                await asyncio.wait([gone], timeout=reply.hold)
            if gone.done():
                self.cut_off += 1
                return
            writer.write(http.send(h11.Data(data=piece)) or b"")
            await writer.drain()
        gone.cancel()
        if reply.cut:
            writer.transport.abort()
        else:
            writer.write(http.send(h11.EndOfMessage()) or b"")
            await writer.drain()


@dataclass
class Spoken:
    """What a double answers with."""

    words: tuple[str, ...] = WORDS
    hold: float = 0.0
    prompt_tokens: int = 20


@dataclass
class Waits:
    """Stands for ``asyncio.sleep``: notes how long was to be waited, and waits no time."""

    waited: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)
