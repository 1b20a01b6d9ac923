"""How an answer is to be written, in the fields that llama-server and vLLM have in common: those of OpenAI's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.answers import Sampling
from engine.elsewhere.plain_text import harmless
from engine.messages import Message, PromptOptions


def spoken(message: Message) -> dict[str, Any]:
    """A message as another server is given it. What the model itself wrote goes back as it was."""
    made = message.openai()
    return made if message.role == "assistant" else {**made, "content": harmless(message.content)}


def openai_fields(messages: Sequence[Message], sampling: Sampling, options: PromptOptions) -> dict[str, Any]:
    """The body of a chat request, but for the model and what each server calls by a name of its own."""
    body: dict[str, Any] = {
        "messages": [spoken(message) for message in messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "max_tokens": sampling.max_tokens,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.json_schema is not None:
        wanted = {"name": "answer", "schema": dict(sampling.json_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    if sampling.logprobs:
        body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    if options.tools:
        body["tools"] = list(options.tools)
    if options.variables:
        body["chat_template_kwargs"] = dict(options.variables)
    return body


def of_length_one(vector: Sequence[float]) -> list[float]:
    """The direction of a vector; servers differ in whether they give that or the vector itself."""
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else list(vector)
