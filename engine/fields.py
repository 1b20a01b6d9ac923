"""Which fields a request may hold: one that nobody reads was meant to say something, and is refused by its name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.errors import RequestWrong

# What OpenAI's clients send that asks nothing of the answer: whose account, what cache, how it is kept there. There is
# one model at a time, whatever a request calls it.
PASSED_OVER = frozenset({
    "model", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    "prediction",
})  # fmt: skip
LONGEST_NAME = 100


def check_fields(given: Mapping[str, Any], known: Collection[str], field: str | None = None) -> None:
    """Raises RequestWrong for the first field of ``given``, the object at ``field``, that is none of the ``known``.

    A field that is null asks for nothing.
    """
    for name, value in given.items():
        if name not in known and value is not None:
            place = name if field is None else f"{field}.{name}"
            raise RequestWrong(field=place[:LONGEST_NAME], reason="there is no such field")


def check_request(given: Mapping[str, Any], known: Collection[str]) -> None:
    """The same for a whole request. Raises RequestWrong."""
    check_fields(given, {*known, *PASSED_OVER})
