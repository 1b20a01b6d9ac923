"""Whether an adapter changes what a server answers: the likeliest next tokens with it and without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.elsewhere.errors import ServerGarbled
from engine.elsewhere.line import Line
from engine.elsewhere.openai_stream import COMPLETIONS

Likely = dict[str, float]


async def changes(
    line: Line, text: str, tokens: int, without: Mapping[str, Any], with_it: Mapping[str, Any]
) -> bool | None:
    """Whether requests with the fields ``with_it`` are answered otherwise than those with ``without``.

    Asked twice without, a server shows how much its numbers differ by themselves. None where it gives none.
    """
    first, again, other = [await _likely(line, text, tokens, fields) for fields in (without, without, with_it)]
    if not first or not again or not other:
        return None
    return _distance(first, other) > _distance(first, again)


async def _likely(line: Line, text: str, tokens: int, fields: Mapping[str, Any]) -> Likely:
    """The log-probabilities of the likeliest first tokens of an answer to ``text``."""
    body = {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": tokens,
        **fields,
    }
    reply = await line.ask("POST", COMPLETIONS, body)
    try:
        content = (reply["choices"][0].get("logprobs") or {}).get("content") or ()
        return {
            str(token["token"]): float(token["logprob"]) for first in content[:1] for token in first["top_logprobs"]
        }
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ServerGarbled(
            **line.named, reason=f"{type(error).__name__} in an answer with log-probabilities"
        ) from error


def _distance(one: Likely, other: Likely) -> float:
    """The largest difference of a token that both have; tokens that only one has are a difference without bound."""
    if one.keys() != other.keys():
        return float("inf")
    return max(abs(value - other[token]) for token, value in one.items())
