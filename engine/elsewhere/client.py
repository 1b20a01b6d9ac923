"""The client of another server, with the interface of the engine's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TypeVar

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished, Piece, PrivateAdapter, Sampling, TokenLogprob, Usage, Waiting
from engine.elsewhere.address import place_of
from engine.elsewhere.dialect import Dialect, Target
from engine.elsewhere.errors import (
    ServerBrokeOff,
    ServerBusy,
    ServerError,
    ServerFailed,
    ServerModelMissing,
    ServerNotOurs,
    ServerOffersNot,
    ServerTooSlow,
    ServerUnreachable,
)
from engine.elsewhere.line import Line, Refusal
from engine.elsewhere.llama_server import LlamaServer
from engine.elsewhere.ollama import Ollama
from engine.elsewhere.vllm import VLLM
from engine.ending import Ending, Until
from engine.errors import EngineError
from engine.interface import ServerStatus
from engine.messages import PLAIN, Message, PromptOptions
from engine.served import RecordedSnapshot, read_recorded

Current = TypeVar("Current")
DIALECTS: dict[str, Callable[[Line, Home, EngineSettings], Dialect]] = {
    "llama-server": LlamaServer,
    "vllm": VLLM,
    "ollama": Ollama,
}
# What may be over in a moment. A refusal, a wrong key and a garbled reply would be the same again.
PASSING = (ServerUnreachable, ServerBrokeOff, ServerBusy, ServerFailed)
NO_SUCH_MODEL = 404


class ServerClient:
    """Answers from the server that ``settings.server`` names.

    ``manifest()`` gives the digest of the snapshot that ought to answer now; the server is made to serve it before it
    is asked. Raises ServerAddressWrong and ServerKeyMissing when it is made.
    """

    def __init__(
        self,
        home: Home,
        settings: EngineSettings,
        manifest: Callable[[], str],
        environ: Mapping[str, str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._home = home
        self._settings = settings
        self._manifest = manifest
        self._sleep = sleep
        self._line = Line(place_of(settings.server, environ), settings.server, settings.request_timeout_s)
        self._dialect = DIALECTS[settings.server.kind](self._line, home, settings)

    async def chat(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        cache_key: str | None = None,
        options: PromptOptions = PLAIN,
        private: PrivateAdapter | None = None,
        snapshot: str | None = None,
        until: Until | None = None,
    ) -> AsyncGenerator[Waiting | Piece | Finished, None]:
        """The answer to ``messages``, piece by piece, ended by Finished. ``aclose()`` closes the connection.

        What fails before the first piece and may pass is tried again, with waits that double; after it nothing is:
        the words that were shown stay. ``until``: asked after each piece whether the answer has said enough; then the
        connection is closed, and what the answer took is not told. Raises ServerError, PromptTooLong, and what a
        snapshot's files raise.
        """
        if snapshot is not None:
            raise ServerOffersNot(**self._line.named, what="snapshot")
        tries = self._settings.server.tries
        for attempt in range(1, tries + 1):
            begun, ending = False, Ending(until)
            try:
                target = await self._prepared()
                async with aclosing(self._dialect.answer(target, messages, sampling, options)) as pieces:
                    async for piece in pieces:
                        begun = True
                        if (kept := ending.kept(piece)) is not None:
                            yield kept
                        if ending.reached:
                            yield Finished("stop", self._untold(target))
                            return
                return
            except Refusal as refusal:
                error = await self._meaning(refusal)
                if not isinstance(error, PASSING) or attempt == tries:
                    raise error from refusal
                await self._sleep(self._wait(attempt, error))
            except PASSING as error:
                if begun or attempt == tries:
                    raise
                await self._sleep(self._wait(attempt, error))

    async def status(self) -> ServerStatus:
        """Which server it is, whether it can be reached, and what it says that it serves."""
        kind, url = self._line.place.kind, self._line.place.url
        limit = self._settings.server.status_timeout_s
        try:
            async with asyncio.timeout(limit):
                seen = await self._dialect.look(self._recorded())
        except (Refusal, ServerError, TimeoutError) as error:
            problem = error.error if isinstance(error, Refusal) else error
            if isinstance(problem, TimeoutError):
                problem = ServerTooSlow(kind=kind, url=url, seconds=f"{limit:g}")
            return ServerStatus(kind, url, reachable=False, problem=problem.code, facts=problem.facts)
        return ServerStatus(
            kind,
            url,
            reachable=True,
            version=seen.version,
            model=seen.model,
            models=seen.models,
            snapshot=seen.snapshot,
            base=seen.base,
            context_size=seen.context_size,
            slots=seen.slots,
            busy=seen.busy,
        )

    async def start(self) -> ServerStatus:
        """Raises ServerNotOurs."""
        raise ServerNotOurs(**self._line.named)

    async def stop(self) -> bool:
        """Raises ServerNotOurs."""
        raise ServerNotOurs(**self._line.named)

    async def load(self, manifest_digest: str) -> None:
        """Have the server serve this snapshot. Where it cannot, the one before is served still, and an error raised."""
        recorded = await self._read(manifest_digest)
        try:
            await self._dialect.serve(await self._dialect.prepare(recorded), recorded)
        except Refusal as refusal:
            raise refusal.error from refusal

    async def adopt(self, manifest_digest: str, make_current: Callable[[], Current]) -> Current:
        """Have the server serve a snapshot, then make it the current one; what ``make_current`` returns.

        Raises what ``load`` and ``make_current`` raise, and then the old one is current still.
        """
        before = self._recorded()
        await self.load(manifest_digest)
        try:
            made = make_current()
        except BaseException:
            await self.load(before.manifest_digest)
            raise
        try:
            await self._dialect.settle(await self._read(manifest_digest), before)
        except (ServerError, Refusal):
            # The snapshot is served and current; what older ones left there is swept with the next one.
            return made
        return made

    async def score(self, messages: Sequence[Message], completion: str, *, top: int = 0) -> list[TokenLogprob]:
        """Raises ServerOffersNot: none of these servers tells what a given answer is worth."""
        raise ServerOffersNot(**self._line.named, what="score")

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Where each text lies: vectors of length 1. Raises ServerError."""
        return await self._dialect.embed(await self._asked_for(), texts)

    async def tokenize(self, content: str | Sequence[Message]) -> list[int]:
        """The tokens of a text, or of a conversation as the model is asked it. Raises ServerError."""
        return await self._dialect.tokenize(await self._asked_for(), content)

    async def _asked_for(self) -> Target:
        try:
            return await self._prepared()
        except Refusal as refusal:
            raise refusal.error from refusal

    def _untold(self, target: Target) -> Usage:
        """What is known of an answer that was ended before the server told what it took."""
        context_size = target.context_size or self._settings.context_size
        return Usage(0, 0, 0, ttft_ms=0.0, tokens_per_second=0.0, snapshot=target.name, context_size=context_size)

    def _recorded(self) -> RecordedSnapshot:
        return read_recorded(self._home, self._manifest())

    async def _read(self, manifest_digest: str) -> RecordedSnapshot:
        """A snapshot's adapters are read through and verified, which takes its time."""
        return await asyncio.get_running_loop().run_in_executor(None, read_recorded, self._home, manifest_digest)

    async def _prepared(self) -> Target:
        return await self._dialect.prepare(await self._read(self._manifest()))

    async def _meaning(self, refusal: Refusal) -> EngineError:
        """What a refused question means. A model that is not there may have been asked for by this client alone."""
        if refusal.reply.status != NO_SUCH_MODEL:
            return refusal.error
        seen = await self._dialect.look(self._recorded())
        wanted = self._settings.server.model or seen.model or "?"
        return ServerModelMissing(**self._line.named, model=wanted, served=", ".join(seen.models))

    def _wait(self, attempt: int, error: EngineError) -> float:
        """Seconds before the next try: what the server asks for, else doubling, and never longer than is allowed."""
        server = self._settings.server
        named = error.facts.get("wait_s")
        asked = float(named) if isinstance(named, int | float) else 0.0
        return min(server.longest_wait_s, max(asked, server.wait_s * float(2 ** (attempt - 1))))
