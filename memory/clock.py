"""Time as memory knows it: seconds since 1970, from a clock that is passed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]


def iso(seconds: float) -> str:
    """``iso(0)`` is ``1970-01-01T00:00:00Z``: UTC, whole seconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    """The reverse of ``iso``; any ISO 8601 time is read. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
