"""Ollama's own form of a conversation and of its answer: ``/api/chat``, a line of JSON for each piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.answers import Called, Delta, Finished, Piece, Sampling, Thought, Usage
from engine.elsewhere.dialect import Target
from engine.elsewhere.errors import ServerOffersNot
from engine.elsewhere.line import Line
from engine.elsewhere.openai_stream import Timer
from engine.elsewhere.plain_text import harmless
from engine.messages import Message, PromptOptions, ToolCall

NANOSECONDS = 1e9


def chat_body(
    line: Line, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
) -> dict[str, Any]:
    """The body of ``/api/chat``. Raises ServerOffersNot for what Ollama passes over in silence."""
    unknown = {
        "grammar": sampling.grammar is not None,
        "logit_bias": sampling.logit_bias,
        "logprobs": sampling.logprobs,
    }
    for what, wanted in unknown.items():
        if wanted:
            raise ServerOffersNot(**line.named, what=what)
    chosen: dict[str, Any] = {
        "num_ctx": target.context_size,
        "num_predict": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "repeat_last_n": sampling.repeat_window,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    if sampling.seed is not None:
        chosen["seed"] = sampling.seed
    if sampling.stop:
        chosen["stop"] = list(sampling.stop)
    body: dict[str, Any] = {
        "model": target.model,
        "messages": [_spoken(message) for message in messages],
        "options": chosen,
        "stream": True,
        # Too long a conversation is an error, and no beginning of it is left out in silence.
        "truncate": False,
        "shift": False,
    }
    if sampling.json_schema is not None:
        body["format"] = dict(sampling.json_schema)
    if options.tools:
        body["tools"] = list(options.tools)
    if "enable_thinking" in options.variables:
        body["think"] = bool(options.variables["enable_thinking"])
    return body


def _spoken(message: Message) -> dict[str, Any]:
    """Ollama's form of a message: a call's arguments are an object, and a tool's answer names the tool."""
    content = message.content if message.role == "assistant" else harmless(message.content)
    made: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        made["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in message.tool_calls
        ]
    if message.name is not None:
        made["tool_name"] = message.name
    return made


def pieces(message: dict[str, Any]) -> list[Piece]:
    """What one line holds of the answer. Raises KeyError, TypeError and ValueError for what is no message."""
    found: list[Piece] = []
    if message.get("thinking"):
        found.append(Thought(str(message["thinking"])))
    if message.get("content"):
        found.append(Delta(str(message["content"])))
    for number, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        name, arguments = str(function["name"]), dict(function["arguments"])
        found.append(Called(ToolCall(str(call.get("id") or f"call_{number}"), name, arguments)))
    return found


def finished(event: dict[str, Any], timer: Timer, target: Target) -> Finished:
    """The last line."""
    tokens, took = int(event.get("eval_count") or 0), int(event.get("eval_duration") or 0)
    usage = Usage(
        prompt_tokens=int(event.get("prompt_eval_count") or 0),
        cached_tokens=0,
        answer_tokens=tokens,
        ttft_ms=timer.ttft_ms,
        tokens_per_second=tokens / took * NANOSECONDS if took else timer.rate(tokens),
        snapshot=target.name,
        context_size=target.context_size or 0,
    )
    return Finished("length" if event.get("done_reason") == "length" else "stop", usage)
