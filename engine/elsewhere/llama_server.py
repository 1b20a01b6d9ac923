"""llama.cpp's own server. It can use the adapters that it was started with, each with a scale.

Interface: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished, Piece, Sampling
from engine.catalogue import model_path
from engine.elsewhere.dialect import Base, Seen, Target
from engine.elsewhere.errors import ServerAdapterIdle, ServerAdapterMissing, ServerGarbled, ServerModelOther
from engine.elsewhere.fields import openai_fields, spoken
from engine.elsewhere.line import Line, Refusal
from engine.elsewhere.openai_stream import embeddings, not_offered, read_answer
from engine.elsewhere.probing import changes
from engine.errors import ModelMissing
from engine.fingerprint import file_sha256, known_sha256
from engine.messages import Message, PromptOptions
from engine.served import AdapterFile, RecordedSnapshot

ADAPTERS = "/lora-adapters"
# A digest's beginning in a file's name says which adapter it is, as `enlace snapshots export` names them.
MARK = 12
NOT_OFFERED = (404, 501)
Adapters = list[tuple[int, str, float]]


class LlamaServer:
    """See Dialect."""

    def __init__(self, line: Line, home: Home, settings: EngineSettings) -> None:
        self._line = line
        self._home = home
        self._settings = settings

    async def look(self, recorded: RecordedSnapshot) -> Seen:
        """Never more than the server says: an adapter's file that cannot be recognised is nobody's."""
        props, adapters = await self._props(), await self._adapters()
        base = await self._base(props, recorded, read=False)
        used = {number: scale for number, _, scale in adapters if scale}
        wanted, missing = await self._scales(recorded, adapters)
        serves = missing is None and used == {number: scale for number, scale in wanted if scale}
        slots = props.get("total_slots")
        return Seen(
            version=_text(props.get("build_info")),
            models=await self._models(),
            model=_model(props),
            snapshot=recorded.name if serves and (recorded.adapters or base == "same") else None,
            base=base,
            context_size=_context(props),
            slots=slots if isinstance(slots, int) else None,
            busy=await self._busy(),
        )

    async def prepare(self, recorded: RecordedSnapshot) -> Target:
        """Raises ServerAdapterMissing, ServerModelOther."""
        props, adapters = await self._props(), await self._adapters()
        base = await self._base(props, recorded, read=bool(recorded.adapters))
        scales, missing = await self._scales(recorded, adapters)
        if recorded.adapters and base == "other":
            raise ServerModelOther(
                **self._line.named, model=_model(props) or "?", base=recorded.base_name, snapshot=recorded.name
            )
        if missing is not None:
            raise ServerAdapterMissing(**self._line.named, snapshot=recorded.name, path=str(missing.path))
        model = self._settings.server.model or _model(props) or ""
        name = recorded.name if recorded.adapters or base == "same" else model
        return Target(model, name or recorded.name, _context(props), scales)

    async def serve(self, target: Target, recorded: RecordedSnapshot) -> None:
        """Have the server's own scales be the snapshot's too. Raises ServerAdapterIdle, and then they are as before."""
        if not target.scales:
            return
        if recorded.adapters:
            without = {"lora": [{"id": number, "scale": 0.0} for number, _ in target.scales], "cache_prompt": False}
            with_it = {"lora": _as_json(target.scales), "cache_prompt": False}
            tokens = self._settings.server.probe_tokens
            if await changes(self._line, self._settings.swap_probe, tokens, without, with_it) is False:
                raise ServerAdapterIdle(**self._line.named, snapshot=recorded.name)
        await self._line.ask("POST", ADAPTERS, _as_json(target.scales))

    async def settle(self, recorded: RecordedSnapshot, before: RecordedSnapshot) -> None:
        """Adapters stay as long as the server runs."""

    def answer(
        self, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
    ) -> AsyncGenerator[Piece | Finished, None]:
        """Every answer names the scales of all adapters, so that nobody else's swap changes it."""
        body = openai_fields(messages, sampling, options) | {
            "top_k": sampling.top_k,
            "repeat_penalty": sampling.repeat_penalty,
            "repeat_last_n": sampling.repeat_window,
            # The server keeps what it has read, and forgets with which adapters it read it: with any of them there,
            # an answer could rest on what another snapshot read.
            "cache_prompt": not target.scales,
        }
        if target.model:
            body["model"] = target.model
        if target.scales:
            body["lora"] = _as_json(target.scales)
        if sampling.logit_bias:
            body["logit_bias"] = [[token, bias] for token, bias in sampling.logit_bias.items()]
        if sampling.grammar is not None:
            body["grammar"] = sampling.grammar
        return read_answer(self._line, body, target, self._settings.context_size)

    async def embed(self, target: Target, texts: Sequence[str]) -> list[list[float]]:
        return await embeddings(self._line, target.model, texts)

    async def tokenize(self, target: Target, content: str | Sequence[Message]) -> list[int]:
        """A conversation is put into the model's template first."""
        try:
            if not isinstance(content, str):
                talk = {"messages": [spoken(message) for message in content]}
                text = (await self._line.ask("POST", "/apply-template", talk))["prompt"]
            else:
                text = content
            special = not isinstance(content, str)
            reply = await self._line.ask("POST", "/tokenize", {"content": text, "parse_special": special})
            return [int(token) for token in reply["tokens"]]
        except Refusal as refusal:
            raise not_offered(self._line, refusal, "/tokenize") from refusal
        except (KeyError, TypeError, ValueError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in /tokenize") from error

    async def _props(self) -> dict[str, Any]:
        """What the server says of itself; nothing where it keeps that to itself."""
        props = await self._optional("/props")
        return props if isinstance(props, dict) else {}

    async def _adapters(self) -> Adapters:
        listed = await self._optional(ADAPTERS)
        try:
            return [(int(each["id"]), str(each["path"]), float(each["scale"])) for each in listed or ()]
        except (KeyError, TypeError, ValueError) as error:
            raise ServerGarbled(**self._line.named, reason=f"{type(error).__name__} in {ADAPTERS}") from error

    async def _models(self) -> tuple[str, ...]:
        listed = await self._optional("/v1/models")
        data = listed.get("data") if isinstance(listed, dict) else None
        return tuple(str(each.get("id")) for each in data or () if isinstance(each, dict))

    async def _busy(self) -> int | None:
        slots = await self._optional("/slots")
        if not isinstance(slots, list):
            return None
        return sum(isinstance(slot, dict) and bool(slot.get("is_processing")) for slot in slots)

    async def _optional(self, target: str) -> Any:
        """The reply, or None where this server was started without that."""
        try:
            return await self._line.ask("GET", target, quick=True)
        except Refusal as refusal:
            if refusal.reply.status in NOT_OFFERED:
                return None
            raise refusal.error from refusal

    async def _base(self, props: dict[str, Any], recorded: RecordedSnapshot, *, read: bool) -> Base:
        """Known only where the server's file can be seen here; ``read``: also where it has to be read through."""
        path = self._here(str(props.get("model_path") or ""))
        if path is None:
            return None
        if not recorded.adapters and self._is_the_bases(path, recorded):
            return "same"
        try:
            find = file_sha256 if read else known_sha256
            digest = await asyncio.get_running_loop().run_in_executor(None, find, self._home, path)
        except OSError:
            return None
        return None if digest is None else "same" if digest == recorded.base_sha256 else "other"

    def _is_the_bases(self, path: Path, recorded: RecordedSnapshot) -> bool:
        """Whether it is the very file that the household's own engine would serve."""
        try:
            return model_path(self._home, recorded.base_name).samefile(path)
        except (ModelMissing, OSError):
            return False

    def _here(self, path: str) -> Path | None:
        """A file that the server names, where it runs on this machine and sees the same files."""
        seen = bool(path) and is_here(self._line.place.name) and Path(path).is_file()
        return Path(path) if seen else None

    async def _is_adapter(self, path: str, digest: str) -> bool:
        """Whether a file that the server names is the adapter with this SHA-256: by name, place or content."""
        if digest[:MARK] in Path(path).name or Path(path) == self._home.artifact(digest):
            return True
        here = self._here(path)
        try:
            loop = asyncio.get_running_loop()
            return here is not None and await loop.run_in_executor(None, file_sha256, self._home, here) == digest
        except OSError:
            return False

    async def _scales(
        self, recorded: RecordedSnapshot, adapters: Adapters
    ) -> tuple[tuple[tuple[int, float], ...], AdapterFile | None]:
        """The scale of each of the server's adapters for this snapshot, and the first one that it lacks."""
        scales = dict.fromkeys((number for number, _, _ in adapters), 0.0)
        for wanted in recorded.adapters:
            digest = "".join(wanted.path.parts[-2:])
            for number, path, _ in adapters:
                if await self._is_adapter(path, digest):
                    scales[number] += wanted.scale
                    break
            else:
                return (), wanted
        return tuple(scales.items()), None


def is_here(name: str) -> bool:
    """Whether a host is this machine by its name or loopback address."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _as_json(scales: tuple[tuple[int, float], ...]) -> list[dict[str, float]]:
    return [{"id": number, "scale": scale} for number, scale in scales]


def _model(props: dict[str, Any]) -> str | None:
    """The model's name: the alias that the server was given, else its file's name."""
    named = _text(props.get("model_alias")) or _text(props.get("model_path"))
    return Path(named).name if named else None


def _context(props: dict[str, Any]) -> int | None:
    size = (props.get("default_generation_settings") or {}).get("n_ctx")
    return size if isinstance(size, int) and size > 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
