"""What the client makes of the chunks in which the engine streams an answer."""

from __future__ import annotations

import json
from typing import Any

from engine.answers import Called, Delta, Finished, Piece, Thought, Usage, Waiting
from engine.logprobs_object import read_logprobs
from engine.messages import ToolCall


def pieces(event: dict[str, Any]) -> list[Waiting | Piece | Finished]:
    """What one chunk of an OpenAI stream says; the engine writes each call of a tool into one chunk."""
    found: list[Waiting | Piece | Finished] = []
    for choice in event["choices"]:
        delta = choice["delta"]
        if thought := delta.get("reasoning_content"):
            found.append(Thought(thought))
        text, logprobs = delta.get("content") or "", read_logprobs((choice.get("logprobs") or {}).get("content"))
        if text or logprobs:
            found.append(Delta(text, logprobs))
        for call in delta.get("tool_calls") or ():
            function = call["function"]
            found.append(Called(ToolCall(call["id"], function["name"], json.loads(function["arguments"]))))
    if "waiting" in event.get("enlace", {}):
        return [Waiting(event["enlace"]["waiting"])]
    if "enlace" in event:
        tokens, ours = event["usage"], event["enlace"]
        usage = Usage(
            prompt_tokens=tokens["prompt_tokens"],
            cached_tokens=tokens["prompt_tokens_details"]["cached_tokens"],
            answer_tokens=tokens["completion_tokens"],
            ttft_ms=ours["ttft_ms"],
            tokens_per_second=ours["tokens_per_second"],
            snapshot=ours["snapshot"],
            context_size=ours["context_size"],
        )
        found.append(Finished(ours["reason"], usage))
    return found
