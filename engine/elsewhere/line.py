"""Requests to a server of the family's, its errors put into ours."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.sections.server import ServerSettings
from engine.elsewhere.address import WebPlace
from engine.elsewhere.errors import (
    ServerBrokeOff,
    ServerBusy,
    ServerFailed,
    ServerGarbled,
    ServerKeyRefused,
    ServerMoved,
    ServerPromptTooLong,
    ServerRefused,
    ServerTooSlow,
    ServerUnreachable,
)
from engine.errors import EngineError, PromptTooLong
from engine.wire import ConnectionLost, Exchange, Garbled, NobodyThere, TookTooLong

LONGEST_REASON = 300
BLOCK = 1 << 20
BINARY = "application/octet-stream"
# llama.cpp: "request (3031 tokens) exceeds the available context size (1024 tokens)".
# vLLM: "maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 …".
TOO_LONG = re.compile(r"context (?:size|length|window)|maximum model length|exceeds? the (?:available )?context", re.I)
ASKED = re.compile(
    r"\((\d+) tokens\)|(\d+) in (?:the|your) (?:messages|input|prompt)|contains (?:at least )?(\d+) input tokens", re.I
)
HELD = re.compile(r"(?:size|length|window)(?: is(?: only)?)?(?: of)? \(?(\d+)", re.I)


@dataclass(frozen=True)
class Reply:
    """A refusal as it came: its status and what it says."""

    status: int
    reason: str


class Refusal(Exception):
    """A status of 400 and more, before it is known what it means there."""

    def __init__(self, reply: Reply, error: EngineError) -> None:
        super().__init__(reply.status)
        self.reply = reply
        self.error = error


class Line:
    """Everything that is sent to one server goes through here. Its methods raise ServerError and PromptTooLong."""

    def __init__(self, place: WebPlace, settings: ServerSettings, silence_s: float) -> None:
        self.place = place
        self._settings = settings
        self._silence_s = silence_s

    @property
    def named(self) -> dict[str, str]:
        """The facts that every error has: which kind of server, and where."""
        return {"kind": self.place.kind, "url": self.place.url}

    async def ask(self, method: str, target: str, body: Any | None = None, *, quick: bool = False) -> Any:
        """The JSON that the server replies. ``quick``: within the time for asking how it is.

        Raises Refusal for a status of 400 and more, for whoever knows better what it means.
        """
        with self._translated():
            async with asyncio.timeout(self._settings.status_timeout_s if quick else None):
                async with self._open() as exchange:
                    await self._check(exchange, await exchange.send(method, target, body))
                    return await exchange.json()

    async def told(self, method: str, target: str, body: Any | None = None) -> str:
        """What the server replies, as text. Raises Refusal."""
        with self._translated():
            async with self._open() as exchange:
                await self._check(exchange, await exchange.send(method, target, body))
                return (await exchange.content()).decode("utf-8", errors="replace")

    async def has(self, target: str) -> bool:
        """Whether a HEAD request finds something."""
        try:
            with self._translated():
                async with self._open() as exchange:
                    await self._check(exchange, await exchange.send("HEAD", target))
        except Refusal as refusal:
            if refusal.reply.status == 404:
                return False
            raise refusal.error from refusal
        return True

    async def upload(self, target: str, path: Path) -> None:
        """Send a file. Raises Refusal, OSError."""
        with path.open("rb") as file:
            size = path.stat().st_size
            blocks: Iterable[bytes] = iter(lambda: file.read(BLOCK), b"")
            with self._translated():
                async with self._open() as exchange:
                    await self._check(exchange, await exchange.send_bytes("POST", target, blocks, size, BINARY))

    async def stream(self, target: str, body: Any, *, events: bool) -> AsyncGenerator[Any, None]:
        """The JSON objects of a streamed reply: server-sent ``events``, else one object a line. Raises Refusal.

        To be closed by whoever stops listening: that is what ends the server's work on it.
        """
        with self._translated():
            async with self._open() as exchange:
                await self._check(exchange, await exchange.send("POST", target, body))
                pieces = exchange.server_events() if events else exchange.json_lines()
                async for piece in pieces:
                    if not isinstance(piece, dict):
                        raise Garbled("an event that is no object")
                    yield piece

    @contextlib.asynccontextmanager
    async def _open(self) -> AsyncIterator[Exchange]:
        """An exchange that is closed however its use ends: a closed connection is what stops a server's work."""
        exchange = Exchange(self.place, self._silence_s, longest=self._settings.longest_reply_bytes)
        try:
            yield exchange
        finally:
            exchange.close()

    async def _check(self, exchange: Exchange, status: int) -> None:
        """Raises ServerMoved and Refusal."""
        if 300 <= status < 400:
            # Followed, it would carry the key and the family's words to wherever the server says.
            raise ServerMoved(**self.named, to=self.shown(exchange.headers.get("location", "?")))
        if status < 400:
            return
        try:
            content: Any = await exchange.json()
        except ConnectionLost:
            # Proxies refuse with a page of HTML: its status says enough.
            content = {}
        reason = self.shown(said(content))
        error = self.error_of(Reply(status, reason), content, exchange.headers.get("retry-after", ""))
        raise Refusal(Reply(status, reason), error)

    def error_of(self, reply: Reply, content: Any = None, retry_after: str = "") -> EngineError:
        """What a refusal means everywhere."""
        if reply.status in (401, 403):
            return ServerKeyRefused(**self.named, status=reply.status)
        if TOO_LONG.search(reply.reason):
            return too_long(reply.reason, content)
        if reply.status in (429, 503):
            return ServerBusy(**self.named, wait_s=float(retry_after) if retry_after.isdecimal() else 0.0)
        if reply.status >= 500:
            return ServerFailed(**self.named, status=reply.status, reason=reply.reason)
        return ServerRefused(**self.named, status=reply.status, reason=reply.reason)

    def shown(self, text: str) -> str:
        """``text`` as an error may carry it: short, and without the key, which a server may quote."""
        for _, value in self.place.headers:
            if value.startswith("Bearer "):
                text = text.replace(value.removeprefix("Bearer "), "…")
        return " ".join(text.split())[:LONGEST_REASON]

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except NobodyThere as error:
            raise ServerUnreachable(**self.named, reason=self.shown(str(error))) from error
        except TookTooLong as error:
            raise ServerTooSlow(**self.named, seconds=f"{self._silence_s:g}") from error
        except TimeoutError as error:
            raise ServerTooSlow(**self.named, seconds=f"{self._settings.status_timeout_s:g}") from error
        except Garbled as error:
            raise ServerGarbled(**self.named, reason=self.shown(str(error))) from error
        except ConnectionLost as error:
            raise ServerBrokeOff(**self.named) from error


def said(content: Any) -> str:
    """What a refusal says, in whichever of the forms that these servers have."""
    if isinstance(content, dict):
        error = content.get("error", content)
        if isinstance(error, dict):
            error = error.get("message") or error.get("detail") or ""
        return error if isinstance(error, str) else str(error)
    return ""


def too_long(reason: str, content: Any) -> PromptTooLong:
    """With both sizes where the server says them."""
    error = content.get("error") if isinstance(content, dict) else None
    facts = error if isinstance(error, dict) else {}
    asked, held = facts.get("n_prompt_tokens"), facts.get("n_ctx")
    if not isinstance(asked, int) and (found := ASKED.search(reason)):
        asked = int(next(number for number in found.groups() if number))
    if not isinstance(held, int) and (found := HELD.search(reason)):
        held = int(found[1])
    if isinstance(asked, int) and isinstance(held, int):
        return PromptTooLong(prompt_tokens=asked, context_size=held)
    return ServerPromptTooLong(context_size=held if isinstance(held, int) else 0)


def sized(error: EngineError) -> tuple[int, int] | None:
    """(tokens of the prompt, tokens that the model can hold) of a prompt that was refused, where both are known."""
    asked, held = error.facts.get("prompt_tokens"), error.facts.get("context_size")
    known = isinstance(error, PromptTooLong) and isinstance(asked, int) and isinstance(held, int)
    return (int(asked), int(held)) if known and asked and held else None
