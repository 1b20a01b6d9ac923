"""Reading a chat request in OpenAI's form: everything is checked here, nothing unchecked goes further."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from configs.sections.engine import SamplingSettings
from engine.answers import Sampling
from engine.conversation_fields import read_messages, read_options
from engine.errors import RequestWrong
from engine.messages import Message, PromptOptions
from engine.sampling_fields import read_sampling


@dataclass(frozen=True)
class ChatRequest:
    """A checked request. ``manifest``: the snapshot that must be the one to answer, or None for whatever is served.

    ``parallel_calls``: whether one answer may call several tools.
    """

    messages: tuple[Message, ...]
    options: PromptOptions
    parallel_calls: bool
    sampling: Sampling
    stream: bool
    cache_key: str | None
    manifest: str | None
    model: str


def read_chat_request(body: bytes, defaults: SamplingSettings) -> ChatRequest:
    """The request in ``body``. Raises RequestWrong naming the field."""
    given = read_object(body)
    return ChatRequest(
        messages=read_messages(given.get("messages")),
        options=read_options(given),
        parallel_calls=_typed(given, "parallel_tool_calls", bool) is not False,
        sampling=read_sampling(given, defaults),
        stream=_typed(given, "stream", bool) or False,
        cache_key=_typed(given, "cache_key", str),
        manifest=_typed(given, "manifest", str),
        model=_typed(given, "model", str) or "",
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


def _typed(given: dict[str, Any], name: str, kind: type) -> Any:
    value = given.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestWrong(field=name, reason=f"must be of type {kind.__name__}")
    return value
