"""Answers and errors in OpenAI's form, with what is the engine's own beside it under ``enlace``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from starlette.types import Send

from engine.answers import Called, Delta, Finished, Piece, Thought, Usage
from engine.errors import EngineError
from engine.logprobs_object import logprobs_object

JSON = [(b"content-type", b"application/json")]


def encoded(content: Any) -> bytes:
    """``content`` as JSON in UTF-8; half of a surrogate pair, which a request may hold, becomes a question mark."""
    return json.dumps(content, ensure_ascii=False).encode("utf-8", errors="replace")


def error_object(error: EngineError) -> dict[str, Any]:
    """OpenAI's error object, plus the code and the facts that a client makes its sentence from."""
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    facts = ", ".join(f"{name}: {value}" for name, value in error.facts.items())
    message = f"{error.code.replace('_', ' ')} ({facts})" if facts else error.code.replace("_", " ")
    return {"error": {"message": message, "type": kind, "code": error.code, "facts": error.facts}}


async def send_json(send: Send, status: int, content: Any) -> None:
    """Send ``content`` as the whole response."""
    await send({"type": "http.response.start", "status": status, "headers": JSON})
    await send({"type": "http.response.body", "body": encoded(content)})


async def send_error(send: Send, error: EngineError) -> None:
    """Send ``error`` as the whole response, with the status that is its own."""
    await send_json(send, error.status, error_object(error))


def chunk(
    head: dict[str, Any], piece: Piece | None = None, finished: Finished | None = None, calls: int = 0
) -> dict[str, Any]:
    """One chunk of a streamed answer; the last one carries usage. ``head``: id, created and model of the answer.

    ``calls``: how many tools were called before this piece.
    """
    said = _delta(piece, calls) if piece else {}
    delta = {"role": "assistant", **said} if said else {}
    worth = logprobs_object(piece.logprobs if isinstance(piece, Delta) else ())
    choice = {"index": 0, "delta": delta, "finish_reason": _finish_reason(finished), **worth}
    tail = _tail(finished) if finished else {}
    return {**head, "object": "chat.completion.chunk", "choices": [choice], **tail}


def completion(head: dict[str, Any], pieces: Sequence[Piece], finished: Finished) -> dict[str, Any]:
    """A whole answer."""
    text = "".join(piece.text for piece in pieces if isinstance(piece, Delta))
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
    calls = [piece.call.openai() for piece in pieces if isinstance(piece, Called)]
    message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = calls
    worth = logprobs_object([entry for piece in pieces if isinstance(piece, Delta) for entry in piece.logprobs])
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(finished), **worth}
    return {**head, "object": "chat.completion", "choices": [choice], **_tail(finished)}


def _delta(piece: Piece, calls: int) -> dict[str, Any]:
    if isinstance(piece, Called):
        return {"tool_calls": [{"index": calls, **piece.call.openai()}]}
    if isinstance(piece, Thought):
        return {"reasoning_content": piece.text}
    return {"content": piece.text} if piece.text else {}


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
