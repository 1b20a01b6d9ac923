"""What tokens are worth, in OpenAI's form: written by the server and read by the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.answers import TokenLogprob

NO_ID = -1


def logprobs_object(logprobs: Sequence[TokenLogprob]) -> dict[str, Any]:
    """``{"logprobs": …}`` for a choice whose tokens' worth was asked for; one entry for each token."""
    return {"logprobs": {"content": [token_object(entry) for entry in logprobs]}} if logprobs else {}


def token_object(entry: TokenLogprob) -> dict[str, Any]:
    """A token and what it is worth, as OpenAI tells it, and its id."""
    return {**_worth(entry), "top_logprobs": [_worth(other) for other in entry.top]}


def read_logprobs(content: Sequence[dict[str, Any]] | None) -> tuple[TokenLogprob, ...]:
    """The other way round; a token without an id, as other servers tell it, has -1."""
    return tuple(_read(entry) for entry in content or ())


def _worth(entry: TokenLogprob) -> dict[str, Any]:
    return {"token": entry.text, "id": entry.token, "bytes": list(entry.bytes), "logprob": entry.logprob}


def _read(entry: dict[str, Any]) -> TokenLogprob:
    text = entry["token"]
    content = bytes(entry["bytes"]) if entry.get("bytes") is not None else text.encode()
    return TokenLogprob(
        entry.get("id", NO_ID), text, content, entry["logprob"], tuple(map(_read, entry.get("top_logprobs") or ()))
    )
