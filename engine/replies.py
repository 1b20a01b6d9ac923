"""Answers and errors in OpenAI's form, with what is the engine's own beside it under ``enlace``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.answers import Finished, TokenLogprob, Usage
from engine.errors import EngineError
from engine.logprobs_object import logprobs_object


def encoded(content: Any) -> bytes:
    """``content`` as JSON in UTF-8; half of a surrogate pair, which a request may hold, becomes a question mark."""
    return json.dumps(content, ensure_ascii=False).encode("utf-8", errors="replace")


def error_object(error: EngineError) -> dict[str, Any]:
    """OpenAI's error object, plus the code and the facts that a client makes its sentence from."""
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    facts = ", ".join(f"{name}: {value}" for name, value in error.facts.items())
    message = f"{error.code.replace('_', ' ')} ({facts})" if facts else error.code.replace("_", " ")
    return {"error": {"message": message, "type": kind, "code": error.code, "facts": error.facts}}


def chunk(
    head: dict[str, Any],
    text: str | None = None,
    finished: Finished | None = None,
    logprobs: Sequence[TokenLogprob] = (),
) -> dict[str, Any]:
    """One chunk of a streamed answer; the last one carries usage. ``head``: id, created and model of the answer."""
    delta = {"role": "assistant", "content": text} if text else {}
    choice = {"index": 0, "delta": delta, "finish_reason": _finish_reason(finished), **logprobs_object(logprobs)}
    tail = _tail(finished) if finished else {}
    return {**head, "object": "chat.completion.chunk", "choices": [choice], **tail}


def completion(
    head: dict[str, Any], text: str, finished: Finished, logprobs: Sequence[TokenLogprob] = ()
) -> dict[str, Any]:
    """A whole answer."""
    message = {"role": "assistant", "content": text}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _finish_reason(finished),
        **logprobs_object(logprobs),
    }
    return {**head, "object": "chat.completion", "choices": [choice], **_tail(finished)}


def _finish_reason(finished: Finished | None) -> str | None:
    """OpenAI knows no cancelled answers; to its clients one ended early is one that stopped."""
    if finished is None:
        return None
    return "stop" if finished.reason == "cancelled" else finished.reason


def _tail(finished: Finished) -> dict[str, Any]:
    usage: Usage = finished.usage
    return {
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.answer_tokens,
            "total_tokens": usage.prompt_tokens + usage.answer_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        },
        "enlace": {
            "snapshot": usage.snapshot,
            "ttft_ms": usage.ttft_ms,
            "tokens_per_second": usage.tokens_per_second,
            "context_size": usage.context_size,
            "reason": finished.reason,
        },
    }
