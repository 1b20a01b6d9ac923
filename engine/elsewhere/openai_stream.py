"""The streamed answers of OpenAI's chat completions, as llama-server and vLLM give them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from engine.answers import Called, Delta, Finished, Piece, Reason, Thought, TokenLogprob, Usage
from engine.elsewhere.dialect import Target
from engine.elsewhere.errors import ServerBrokeOff, ServerGarbled, ServerOffersNot
from engine.elsewhere.fields import of_length_one
from engine.elsewhere.line import LONGEST_REASON, Line, Refusal, Reply, said
from engine.errors import EngineError
from engine.logprobs_object import read_logprobs
from engine.messages import ToolCall

COMPLETIONS = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"


class Timer:
    """When an answer was asked for, began and ended."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked = clock()
        self._first: float | None = None
        self._last = self._asked

    def mark(self) -> None:
        """Another piece has come."""
        self._last = self._clock()
        if self._first is None:
            self._first = self._last

    @property
    def ttft_ms(self) -> float:
        return 1000 * ((self._first or self._last) - self._asked)

    def rate(self, tokens: int) -> float:
        """Tokens per second after the first, as they came here; 0 where nothing can be told."""
        seconds = self._last - (self._first or self._last)
        return (tokens - 1) / seconds if seconds > 0 and tokens > 1 else 0.0


class _Calls:
    """Tool calls as they are put together of their pieces."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, str]] = {}

    def add(self, delta: dict[str, Any]) -> None:
        part = self._parts.setdefault(int(delta.get("index") or 0), {"id": "", "name": "", "arguments": ""})
        function = delta.get("function") or {}
        part["id"] = part["id"] or str(delta.get("id") or "")
        part["name"] += str(function.get("name") or "")
        part["arguments"] += str(function.get("arguments") or "")

    def whole(self) -> list[ToolCall]:
        """Raises ValueError for arguments that are no JSON object."""
        calls = []
        for number, part in sorted(self._parts.items()):
            arguments = json.loads(part["arguments"] or "{}")
            if not isinstance(arguments, dict):
                raise ValueError("the arguments of a tool call are no object")
            calls.append(ToolCall(part["id"] or f"call_{number}", part["name"], arguments))
        return calls


async def read_answer(
    line: Line, body: dict[str, Any], target: Target, context_size: int
) -> AsyncGenerator[Piece | Finished, None]:
    """Ask and give the pieces of the answer. Raises ServerError, PromptTooLong and Refusal."""
    timer, calls = Timer(), _Calls()
    reason: Reason | None = None
    usage: dict[str, Any] = {}
    timings: dict[str, Any] = {}
    body = {**body, "stream": True, "stream_options": {"include_usage": True}}
    try:
        async with aclosing(line.stream(COMPLETIONS, body, events=True)) as events:
            async for event in events:
                if "error" in event:
                    raise _failed(line, event)
                usage, timings = event.get("usage") or usage, event.get("timings") or timings
                for choice in event.get("choices") or ():
                    worth = read_logprobs((choice.get("logprobs") or {}).get("content"))
                    for piece in _pieces(choice.get("delta") or {}, calls, worth):
                        timer.mark()
                        yield piece
                    if choice.get("finish_reason"):
                        reason = "length" if choice["finish_reason"] == "length" else "stop"
        if reason is None:
            raise ServerBrokeOff(**line.named)
        for call in calls.whole():
            yield Called(call)
        yield Finished(reason, _usage(usage, timings, timer, target, context_size))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason_text = f"{type(error).__name__} in a stream that is not OpenAI's"
        raise ServerGarbled(**line.named, reason=reason_text[:LONGEST_REASON]) from error


def _pieces(delta: dict[str, Any], calls: _Calls, worth: tuple[TokenLogprob, ...]) -> list[Piece]:
    for call in delta.get("tool_calls") or ():
        calls.add(call)
    thought = delta.get("reasoning_content") or delta.get("reasoning")
    pieces: list[Piece] = [Thought(thought)] if isinstance(thought, str) and thought else []
    text = delta.get("content")
    text = text if isinstance(text, str) else ""
    return [*pieces, Delta(text, worth)] if text or worth else pieces


def _failed(line: Line, event: dict[str, Any]) -> Exception:
    """An error in mid-stream, under the status 200 with which the stream began."""
    error = event["error"]
    status = error.get("code") if isinstance(error, dict) else None
    return line.error_of(Reply(status if isinstance(status, int) else 500, line.shown(said(event))), event)


def _usage(usage: dict[str, Any], timings: dict[str, Any], timer: Timer, target: Target, context_size: int) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    tokens = int(usage.get("completion_tokens") or 0)
    return Usage(
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        cached_tokens=int(details.get("cached_tokens") or 0),
        answer_tokens=tokens,
        ttft_ms=timer.ttft_ms,
        tokens_per_second=float(timings.get("predicted_per_second") or timer.rate(tokens)),
        snapshot=target.name,
        context_size=target.context_size or context_size,
    )


async def embeddings(line: Line, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Where each text lies, by ``/v1/embeddings``. Raises ServerOffersNot where the server was started without."""
    try:
        reply = await line.ask("POST", EMBEDDINGS, {"model": model, "input": list(texts)})
    except Refusal as refusal:
        raise not_offered(line, refusal, EMBEDDINGS) from refusal
    try:
        found = sorted(reply["data"], key=lambda entry: int(entry["index"]))
        return [of_length_one([float(value) for value in entry["embedding"]]) for entry in found]
    except (KeyError, TypeError, ValueError) as error:
        raise ServerGarbled(**line.named, reason=f"{type(error).__name__} in {EMBEDDINGS}") from error


def not_offered(line: Line, refusal: Refusal, what: str) -> EngineError:
    """A path that is not there, or that the server was started without; other refusals are what they are."""
    without = refusal.reply.status in (404, 405, 501) or "does not support" in refusal.reply.reason
    return ServerOffersNot(**line.named, what=what) if without else refusal.error
