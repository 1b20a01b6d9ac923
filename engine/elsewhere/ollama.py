"""Ollama. A snapshot becomes a model of its own there, made of the household's own files.

Interface: https://github.com/ollama/ollama/blob/main/docs/api.md. Its own ``/api/chat`` is spoken, not OpenAI's form:
only there can the context's size be said, and that a conversation must not be cut short in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished, Piece, Sampling
from engine.elsewhere.dialect import Base, Seen, Target
from engine.elsewhere.errors import (
    ServerAdapterRefused,
    ServerBrokeOff,
    ServerError,
    ServerGarbled,
    ServerModelMissing,
    ServerModelOther,
    ServerOffersNot,
    ServerTakesNoAdapters,
)
from engine.elsewhere.fields import of_length_one
from engine.elsewhere.line import Line, Refusal, Reply, said
from engine.elsewhere.ollama_chat import chat_body, finished, pieces
from engine.elsewhere.openai_stream import Timer, not_offered
from engine.errors import EngineError, ModelReplaced
from engine.fingerprint import file_sha256
from engine.messages import Message, PromptOptions
from engine.served import AdapterFile, RecordedSnapshot, read_served

OURS = "enlace"
NAMED = 16
BLOB = re.compile(r"sha256[-:]([0-9a-f]{64})")
NO_ADAPTERS = "no longer supported"


class Ollama:
    """See Dialect."""

    def __init__(self, line: Line, home: Home, settings: EngineSettings) -> None:
        self._line = line
        self._home = home
        self._settings = settings

    async def look(self, recorded: RecordedSnapshot) -> Seen:
        models = await self._models()
        ours, wanted = model_name(recorded), self._settings.server.model
        model = _found(wanted, models) if wanted else ours if ours in models else None
        base = await self._base(model, recorded)
        known = ours in models if recorded.adapters else base == "same"
        return Seen(
            version=await self._version(),
            models=models,
            model=ours if ours in models and recorded.adapters else model,
            snapshot=recorded.name if known else None,
            base=base,
            context_size=self._settings.context_size,
        )

    async def prepare(self, recorded: RecordedSnapshot) -> Target:
        """Raises ServerModelMissing, ServerModelOther, ServerTakesNoAdapters, ServerAdapterRefused, ModelReplaced."""
        models = await self._models()
        wanted, size = self._settings.server.model, self._settings.context_size
        named = _found(wanted, models) if wanted else None
        if wanted and named is None:
            raise ServerModelMissing(**self._line.named, model=wanted, served=", ".join(models))
        if named is not None:
            base = await self._base(named, recorded)
            if not recorded.adapters:
                return Target(named, recorded.name if base == "same" else named, size)
            if base == "other":
                raise ServerModelOther(**self._line.named, model=named, base=recorded.base_name, snapshot=recorded.name)
        ours = model_name(recorded)
        if ours not in models:
            await self._create(ours, recorded)
        return Target(ours, recorded.name, size)

    async def serve(self, target: Target, recorded: RecordedSnapshot) -> None:
        """Nothing to set: the model is made of the files themselves, which it has by their digests."""

    async def settle(self, recorded: RecordedSnapshot, before: RecordedSnapshot) -> None:
        """Models of ours that are neither go: their files stay as long as another one is made of them."""
        kept = {model_name(recorded), model_name(before)}
        for name in await self._models():
            if name.partition(":")[0] == OURS and name not in kept:
                # One that will not go takes room there and harms no answer.
                with contextlib.suppress(ServerError, Refusal):
                    await self._line.told("DELETE", "/api/delete", {"model": name})

    async def answer(
        self, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
    ) -> AsyncGenerator[Piece | Finished, None]:
        """Lines of JSON; an error may come in any of them."""
        timer, body = Timer(), chat_body(self._line, target, messages, sampling, options)
        try:
            async with aclosing(self._line.stream("/api/chat", body, events=False)) as events:
                async for event in events:
                    if "error" in event:
                        raise self._failed(event)
                    for piece in pieces(event.get("message") or {}):
                        timer.mark()
                        yield piece
                    if event.get("done"):
                        yield finished(event, timer, target)
                        return
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /api/chat") from error
        raise ServerBrokeOff(**self._line.named)

    async def embed(self, target: Target, texts: Sequence[str]) -> list[list[float]]:
        try:
            reply = await self._line.ask(
                "POST", "/api/embed", {"model": target.model, "input": list(texts), "truncate": False}
            )
            return [of_length_one([float(value) for value in vector]) for vector in reply["embeddings"]]
        except Refusal as refusal:
            raise not_offered(self._line, refusal, "/api/embed") from refusal
        except (KeyError, TypeError, ValueError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /api/embed") from error

    async def tokenize(self, target: Target, content: str | Sequence[Message]) -> list[int]:
        """Raises ServerOffersNot."""
        raise ServerOffersNot(**self._line.named, what="tokenize")

    def _failed(self, event: dict[str, Any]) -> EngineError:
        """An error in mid-stream, under the status 200 with which the stream began."""
        status = event.get("status")
        return self._line.error_of(
            Reply(status if isinstance(status, int) else 500, self._line.shown(said(event))), event
        )

    async def _models(self) -> tuple[str, ...]:
        listed = await self._asked("GET", "/api/tags")
        try:
            return tuple(str(each["name"]) for each in listed["models"] or ())
        except (KeyError, TypeError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /api/tags") from error

    async def _version(self) -> str | None:
        reply = await self._asked("GET", "/api/version")
        version = reply.get("version") if isinstance(reply, dict) else None
        return version if isinstance(version, str) else None

    async def _base(self, model: str | None, recorded: RecordedSnapshot) -> Base:
        """A model's Modelfile names the digest of its weights."""
        if model is None:
            return None
        shown = await self._asked("POST", "/api/show", {"model": model})
        text = str(shown.get("modelfile") or "") if isinstance(shown, dict) else ""
        lines = [line for line in text.splitlines() if line.upper().startswith("FROM ")]
        found = [digest[1] for line in lines if (digest := BLOB.search(line))]
        if not found:
            return None
        return "same" if found[0] == recorded.base_sha256 else "other"

    async def _asked(self, method: str, target: str, body: Any | None = None) -> Any:
        try:
            return await self._line.ask(method, target, body, quick=True)
        except Refusal as refusal:
            raise refusal.error from refusal

    async def _create(self, name: str, recorded: RecordedSnapshot) -> None:
        """Copy the files there, each once, and make the model of them."""
        from engine.elsewhere.go_template import turns_of
        from engine.elsewhere.modelfile import Described

        loop = asyncio.get_running_loop()
        model, digest, adapter = await loop.run_in_executor(None, self._files, recorded)
        adapters = [(adapter, await loop.run_in_executor(None, file_sha256, self._home, adapter))] if adapter else []
        turns = await loop.run_in_executor(None, turns_of, model)
        described = Described(turns, self._settings.context_size, self._settings.sampling)
        try:
            for path, content in ((model, digest), *adapters):
                blob = f"/api/blobs/sha256:{content}"
                if not await self._line.has(blob):
                    await self._line.upload(blob, path)
            request = described.request(name, digest, [content for _, content in adapters])
            reply = await self._line.ask("POST", "/api/create", request)
        except Refusal as refusal:
            raise self._refused(refusal, recorded) from refusal
        if isinstance(reply, dict) and "error" in reply:
            raise ServerAdapterRefused(**self._line.named, snapshot=recorded.name, reason=self._line.shown(said(reply)))

    def _refused(self, refusal: Refusal, recorded: RecordedSnapshot) -> ServerError:
        reason = refusal.reply.reason
        if recorded.adapters and NO_ADAPTERS in reason:
            return ServerTakesNoAdapters(**self._line.named, snapshot=recorded.name, reason=reason)
        if refusal.reply.status in (400, 404, 500) and isinstance(refusal.error, ServerError):
            return ServerAdapterRefused(**self._line.named, snapshot=recorded.name, reason=reason)
        return refusal.error if isinstance(refusal.error, ServerError) else ServerError(**self._line.named)

    def _files(self, recorded: RecordedSnapshot) -> tuple[Path, str, Path | None]:
        """The weights, their digest, and the adapter over them; none where the weights have it merged into them.

        Raises ModelReplaced, AdapterMismatch, OSError.
        """
        served = read_served(self._home, recorded.manifest_digest)
        if served.merged:
            return served.model, file_sha256(self._home, served.model), None
        model = (served.pulled or served).model
        digest = file_sha256(self._home, model)
        if digest != recorded.base_sha256:
            raise ModelReplaced(path=str(model), snapshot=recorded.name)
        return model, digest, one_adapter(self._home, recorded, model) if recorded.adapters else None


def one_adapter(home: Home, recorded: RecordedSnapshot, model: Path) -> Path:
    """Ollama takes one adapter and no scale: what is more than that is added up into one file."""
    from engine.elsewhere.lora import write_gguf

    first: AdapterFile = recorded.adapters[0]
    if len(recorded.adapters) == 1 and first.scale == 1:
        return first.path
    path = home.cache / "adapters" / f"{recorded.manifest_digest[:NAMED]}.gguf"
    if not path.is_file():
        write_gguf(path, recorded.adapters, model)
    return path


def model_name(recorded: RecordedSnapshot) -> str:
    """The name of the model that a snapshot is there."""
    return f"{OURS}:{recorded.name}-{recorded.manifest_digest[:NAMED]}"


def _found(wanted: str, models: Sequence[str]) -> str | None:
    """The model that is meant: a name without a tag means the latest."""
    return next((name for name in models if name in (wanted, f"{wanted}:latest")), None)
