"""What a question to the engine becomes in OpenAI's form, with the engine's own fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from engine.answers import Sampling
from engine.messages import Message, PromptOptions


def chat_body(
    messages: Sequence[Message], sampling: Sampling, cache_key: str | None, options: PromptOptions
) -> dict[str, Any]:
    """The body of a request for a streamed answer to ``messages``."""
    return {
        "messages": [message.openai() for message in messages],
        "tools": [*options.tools] or None,
        "chat_template_kwargs": dict(options.variables),
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_key": cache_key,
        "user": cache_key.partition("/")[0] if cache_key else None,
        **asdict(sampling),
    }
