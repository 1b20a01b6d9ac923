"""Reading a chat request in OpenAI's form: everything is checked here, nothing unchecked goes further."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from configs.sections.engine import EngineSettings
from engine.answers import PrivateAdapter, Sampling
from engine.conversation_fields import OPTION_FIELDS, read_messages, read_options
from engine.errors import RequestWrong
from engine.fields import check_fields, check_request
from engine.messages import Message, PromptOptions
from engine.sampling_fields import SAMPLING_FIELDS, read_sampling

DIGEST = re.compile(r"[0-9a-f]{64}")
MEMBER = re.compile(r"[0-9a-f]{32}")  # memory's ids; nothing else may become part of a path
MOST_ADAPTERS = 8
LARGEST_SCALE = 16
CHAT_FIELDS = frozenset({
    "messages", *OPTION_FIELDS, *SAMPLING_FIELDS, "parallel_tool_calls", "stream", "stream_options", "cache_key",
    "user", "adapters", "private", "snapshot", "patient", "manifest",
})  # fmt: skip


@dataclass(frozen=True)
class ChatRequest:
    """A checked request. ``manifest``: the snapshot to be served first, or None for whatever is served.

    ``user`` asks: nobody gets every slot. ``adapters``: digests and scales of those to answer with, or None for the
    snapshot's own; ``private``: one to lay over the snapshot ``manifest``; ``snapshot``: the manifest of one to answer
    with in place of what is served. ``patient``: it gives way to whoever is not. ``parallel_calls``: whether one answer
    may call several tools.
    """

    messages: tuple[Message, ...]
    options: PromptOptions
    parallel_calls: bool
    sampling: Sampling
    stream: bool
    cache_key: str | None
    user: str | None
    adapters: tuple[tuple[str, float], ...] | None
    private: PrivateAdapter | None
    snapshot: str | None
    patient: bool
    manifest: str | None


def read_chat_request(body: bytes, settings: EngineSettings) -> ChatRequest:
    """The request in ``body``. Raises RequestWrong naming the field, and PromptTooLong by the number of messages."""
    given = read_object(body)
    check_request(given, CHAT_FIELDS)
    _check_stream_options(given)
    return ChatRequest(
        messages=read_messages(given.get("messages"), settings.context_size),
        options=read_options(given),
        parallel_calls=_typed(given, "parallel_tool_calls", bool) is not False,
        sampling=read_sampling(given, settings),
        stream=_typed(given, "stream", bool) or False,
        cache_key=_typed(given, "cache_key", str),
        user=_typed(given, "user", str),
        adapters=_adapters(given.get("adapters")),
        private=_private(given),
        snapshot=_snapshot(given),
        patient=_typed(given, "patient", bool) or False,
        manifest=_typed(given, "manifest", str),
    )


def read_object(body: bytes) -> dict[str, Any]:
    """``body`` as a JSON object. Raises RequestWrong."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestWrong(field="body", reason=f"not JSON: {error}"[:200]) from error
    if not isinstance(given, dict):
        raise RequestWrong(field="body", reason="not a JSON object")
    return given


def _check_stream_options(given: dict[str, Any]) -> None:
    """The usage comes with every answer, and no chunk is padded, so that there is nothing to be chosen."""
    options = _typed(given, "stream_options", dict) or {}
    check_fields(options, ("include_usage", "include_obfuscation"), "stream_options")
    if options.get("include_usage") not in (None, True, False):
        raise RequestWrong(field="stream_options.include_usage", reason="must be true or false")
    if options.get("include_obfuscation") not in (None, False):
        raise RequestWrong(field="stream_options.include_obfuscation", reason="must be false")


def _private(given: dict[str, Any]) -> PrivateAdapter | None:
    """The member's own adapter that a request names: ``{"member": …, "sha256": …, "scale": …}``."""
    entry, manifest = given.get("private"), given.get("manifest")
    if entry is None:
        return None
    if given.get("adapters") is not None or not isinstance(manifest, str):
        raise RequestWrong(field="private", reason="it is laid over the snapshot that manifest names, and nothing else")
    member = entry.get("member") if isinstance(entry, dict) else None
    if not isinstance(member, str) or not MEMBER.fullmatch(member):
        raise RequestWrong(field="private.member", reason="a member's id is needed")
    check_fields(entry, ("member", "sha256", "manifest", "scale"), "private")
    digest, scale = _adapter("private", entry)
    return PrivateAdapter(member, digest, manifest, scale)


def _snapshot(given: dict[str, Any]) -> str | None:
    """The manifest of the snapshot that alone answers this request."""
    digest = _typed(given, "snapshot", str)
    if digest is not None and (given.get("adapters") is not None or given.get("private") is not None):
        raise RequestWrong(field="snapshot", reason="it answers with its own adapters, and with no others")
    return None if digest is None else str(digest)


def _adapters(given: Any) -> tuple[tuple[str, float], ...] | None:
    """The adapters that a request names: ``[{"sha256": …, "scale": …}, …]``."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MOST_ADAPTERS:
        raise RequestWrong(field="adapters", reason=f"a list of at most {MOST_ADAPTERS} is needed")
    chosen: list[tuple[str, float]] = []
    for place, entry in enumerate(given):
        digest, scale = _adapter(f"adapters[{place}]", entry)
        check_fields(entry, ("sha256", "scale"), f"adapters[{place}]")
        if any(digest == other for other, _ in chosen):
            # llama.cpp takes one scale for each adapter and passes over the rest.
            raise RequestWrong(field=f"adapters[{place}].sha256", reason="named twice")
        chosen.append((digest, scale))
    return tuple(chosen)


def _adapter(field: str, entry: Any) -> tuple[str, float]:
    """Digest and scale of one adapter. Raises RequestWrong."""
    digest, scale = (entry.get("sha256"), entry.get("scale", 1.0)) if isinstance(entry, dict) else (None, None)
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise RequestWrong(field=f"{field}.sha256", reason="a SHA-256 in hex is needed")
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not abs(scale) <= LARGEST_SCALE:
        raise RequestWrong(field=f"{field}.scale", reason=f"a number up to {LARGEST_SCALE} is needed")
    return digest, float(scale)


def _typed(given: dict[str, Any], name: str, kind: type) -> Any:
    value = given.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestWrong(field=name, reason=f"must be of type {kind.__name__}")
    return value
