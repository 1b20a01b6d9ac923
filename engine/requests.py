"""Reading a chat request in OpenAI's form: everything is checked here, nothing unchecked goes further."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from configs.sections.engine import SamplingSettings
from engine.answers import Sampling
from engine.errors import RequestWrong
from engine.messages import ROLES, Message
from engine.sampling_fields import read_sampling


@dataclass(frozen=True)
class ChatRequest:
    """A checked request. ``manifest``: the snapshot that must be the one to answer, or None for whatever is served."""

    messages: tuple[Message, ...]
    sampling: Sampling
    stream: bool
    cache_key: str | None
    manifest: str | None
    model: str


def read_chat_request(body: bytes, defaults: SamplingSettings) -> ChatRequest:
    """The request in ``body``. Raises RequestWrong naming the field."""
    given = read_object(body)
    return ChatRequest(
        messages=_messages(given.get("messages")),
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


def _messages(given: Any) -> tuple[Message, ...]:
    if not isinstance(given, list) or not given:
        raise RequestWrong(field="messages", reason="a list with at least one message is needed")
    return tuple(_message(entry, f"messages[{place}]") for place, entry in enumerate(given))


def _message(entry: Any, name: str) -> Message:
    if not isinstance(entry, dict):
        raise RequestWrong(field=name, reason="not an object")
    role, content = entry.get("role"), entry.get("content")
    if role not in ROLES:
        raise RequestWrong(field=f"{name}.role", reason=f"must be one of {', '.join(ROLES)}")
    if isinstance(content, list):
        texts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content
        ]
        if not all(isinstance(text, str) for text in texts):
            raise RequestWrong(field=f"{name}.content", reason="only parts of type text are understood")
        content = "".join(str(text) for text in texts)
    if not isinstance(content, str):
        raise RequestWrong(field=f"{name}.content", reason="text is needed")
    return Message(role, content)


def _typed(given: dict[str, Any], name: str, kind: type) -> Any:
    value = given.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestWrong(field=name, reason=f"must be of type {kind.__name__}")
    return value
