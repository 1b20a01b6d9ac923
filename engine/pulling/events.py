"""What is told of a download while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Waiting:
    """Another process is getting the same model; this one waits for it."""


@dataclass(frozen=True)
class Moved:
    """``done`` bytes of ``total`` (None: the server does not say) are there; at ``rate`` bytes a second ``left`` s."""

    done: int
    total: int | None
    rate: float
    left: float | None


@dataclass(frozen=True)
class Retrying:
    """The connection failed; it is made again in ``wait_s`` seconds."""

    reason: str
    wait_s: float


@dataclass(frozen=True)
class Restarted:
    """All that had arrived was thrown away: the file had changed, or was damaged."""

    reason: str


@dataclass(frozen=True)
class Checking:
    """``done`` bytes of ``total`` have been read again to see that they are right."""

    done: int
    total: int


Event = Waiting | Moved | Retrying | Restarted | Checking
Tell = Callable[[Event], None]


@dataclass(frozen=True)
class Pulled:
    """A model that is in place. ``sha256`` is what the file holds; ``verified``: it is what the hub said it must be.

    ``already``: it was there before. ``resumed``: bytes that an earlier try had brought.
    """

    name: str
    path: Path
    size: int
    sha256: str | None
    verified: bool
    already: bool
    resumed: int = 0
