"""vLLM's OpenAI-compatible server. Adapters are loaded into it from folders in PEFT's form.

Interface: https://docs.vllm.ai/en/latest/features/lora.html
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path, PurePosixPath
from typing import Any

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished, Piece, Sampling
from engine.elsewhere.dialect import Seen, Target
from engine.elsewhere.errors import (
    ServerAdapterIdle,
    ServerAdapterRefused,
    ServerError,
    ServerGarbled,
    ServerModelMissing,
    ServerOffersNot,
    ServerTakesNoAdapters,
)
from engine.elsewhere.fields import openai_fields, spoken
from engine.elsewhere.line import Line, Refusal, sized
from engine.elsewhere.openai_stream import embeddings, not_offered, read_answer
from engine.elsewhere.probing import changes
from engine.messages import Message, PromptOptions
from engine.served import RecordedSnapshot, read_served

OURS = "enlace-"
NAMED = 16
# What FastAPI says of a path that does not exist: the server was started without runtime updating.
NO_SUCH_PATH = "Not Found"
SWITCH = "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"


class VLLM:
    """See Dialect."""

    def __init__(self, line: Line, home: Home, settings: EngineSettings) -> None:
        self._line = line
        self._home = home
        self._settings = settings

    async def look(self, recorded: RecordedSnapshot) -> Seen:
        """What model its weights are is not known: it has files of its own, in another form."""
        models = await self._models()
        base = self._base_of(models)
        ready = bool(recorded.adapters) and adapter_name(recorded) in models
        return Seen(
            version=await self._version(),
            models=tuple(models),
            model=base,
            snapshot=recorded.name if ready else None,
            context_size=models.get(base or ""),
        )

    async def prepare(self, recorded: RecordedSnapshot) -> Target:
        """Raises ServerModelMissing, ServerTakesNoAdapters, ServerAdapterRefused."""
        models = await self._models()
        base = self._base_of(models)
        if base is None:
            served = ", ".join(models)
            raise ServerModelMissing(**self._line.named, model=self._settings.server.model or "?", served=served)
        if not recorded.adapters:
            return Target(base, base, models[base])
        name = adapter_name(recorded)
        if name not in models:
            await self._load(recorded, name, base)
        return Target(name, recorded.name, models[base])

    async def serve(self, target: Target, recorded: RecordedSnapshot) -> None:
        """Raises ServerAdapterIdle."""
        if not recorded.adapters:
            return
        base, tokens = self._base_of(await self._models()), self._settings.server.probe_tokens
        probe = self._settings.swap_probe
        if await changes(self._line, probe, tokens, {"model": base}, {"model": target.model}) is False:
            await self._unload(target.model)
            raise ServerAdapterIdle(**self._line.named, snapshot=recorded.name)

    async def settle(self, recorded: RecordedSnapshot, before: RecordedSnapshot) -> None:
        """The one before stays loaded: answers of it may be in flight. Older ones of ours go."""
        kept = {adapter_name(recorded), adapter_name(before)}
        for name in await self._models():
            if name.startswith(OURS) and name not in kept:
                # One that will not go takes memory there and harms no answer.
                with contextlib.suppress(ServerError):
                    await self._unload(name)

    async def answer(
        self, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
    ) -> AsyncGenerator[Piece | Finished, None]:
        """vLLM also refuses a prompt that fits where the longest answer would not: it is then asked for less."""
        body = self._body(target, messages, sampling, options)
        try:
            async with aclosing(read_answer(self._line, body, target, self._settings.context_size)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except Refusal as refusal:
            sizes = sized(refusal.error)
            if sizes is None or sizes[0] >= sizes[1]:
                raise
            body["max_tokens"] = sizes[1] - sizes[0]
        async with aclosing(read_answer(self._line, body, target, self._settings.context_size)) as pieces:
            async for piece in pieces:
                yield piece

    async def embed(self, target: Target, texts: Sequence[str]) -> list[list[float]]:
        return await embeddings(self._line, target.model, texts)

    async def tokenize(self, target: Target, content: str | Sequence[Message]) -> list[int]:
        talk = {"prompt": content} if isinstance(content, str) else {"messages": [spoken(each) for each in content]}
        body = {"model": target.model, **talk, "add_special_tokens": False}
        try:
            return [int(token) for token in (await self._line.ask("POST", "/tokenize", body))["tokens"]]
        except Refusal as refusal:
            raise not_offered(self._line, refusal, "/tokenize") from refusal
        except (KeyError, TypeError, ValueError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /tokenize") from error

    def _body(
        self, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
    ) -> dict[str, Any]:
        if sampling.grammar is not None:
            # Its grammars are written in another language, and a field that it does not know is passed over in silence.
            raise ServerOffersNot(**self._line.named, what="grammar")
        body = openai_fields(messages, sampling, options) | {
            "model": target.model,
            "top_k": sampling.top_k or -1,
            "repetition_penalty": sampling.repeat_penalty,
        }
        if sampling.logit_bias:
            body["logit_bias"] = {str(token): bias for token, bias in sampling.logit_bias.items()}
        return body

    async def _models(self) -> dict[str, int | None]:
        """Every name that may be asked for, with its context size; adapters have none of their own."""
        try:
            listed = await self._line.ask("GET", "/v1/models", quick=True)
        except Refusal as refusal:
            raise refusal.error from refusal
        try:
            found = {}
            for each in listed["data"]:
                size = each.get("max_model_len")
                found[str(each["id"])] = size if isinstance(size, int) and not each.get("parent") else None
            return found
        except (AttributeError, KeyError, TypeError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /v1/models") from error

    def _base_of(self, models: dict[str, int | None]) -> str | None:
        wanted = self._settings.server.model
        if wanted:
            return wanted if wanted in models else None
        return next((name for name in models if not name.startswith(OURS)), None)

    async def _version(self) -> str | None:
        try:
            reply = await self._line.ask("GET", "/version", quick=True)
        except Refusal:
            return None
        version = reply.get("version") if isinstance(reply, dict) else None
        return version if isinstance(version, str) else None

    async def _load(self, recorded: RecordedSnapshot, name: str, base: str) -> None:
        from engine.elsewhere.lora import write_peft

        folder = self._folder() / name
        loop = asyncio.get_running_loop()
        served = await loop.run_in_executor(None, read_served, self._home, recorded.manifest_digest)
        model = (served.pulled or served).model
        await loop.run_in_executor(None, write_peft, folder, recorded.adapters, model, base)
        there = self._settings.server.adapters_folder_there
        path = str(PurePosixPath(there) / name) if there else str(folder)
        try:
            await self._line.told("POST", "/v1/load_lora_adapter", {"lora_name": name, "lora_path": path})
        except Refusal as refusal:
            reason = refusal.reply.reason
            if "already been loaded" in reason:
                # Another of the household's programs was quicker; the name says that it is the same.
                return
            if refusal.reply.status == 404 and reason in ("", NO_SUCH_PATH):
                raise ServerTakesNoAdapters(**self._line.named, snapshot=recorded.name, reason=SWITCH) from refusal
            if refusal.reply.status in (401, 403, 429, 503):
                raise refusal.error from refusal
            raise ServerAdapterRefused(**self._line.named, snapshot=recorded.name, reason=reason) from refusal

    async def _unload(self, name: str) -> None:
        try:
            await self._line.told("POST", "/v1/unload_lora_adapter", {"lora_name": name})
        except Refusal as refusal:
            if refusal.reply.status != 404:
                raise refusal.error from refusal

    def _folder(self) -> Path:
        named = self._settings.server.adapters_folder
        return Path(named).expanduser() if named else self._home.cache / "peft"


def adapter_name(recorded: RecordedSnapshot) -> str:
    """The name under which a snapshot's adapters are known to the server."""
    return f"{OURS}{recorded.name}-{recorded.manifest_digest[:NAMED]}"
