"""What a reader gives: documents, and what it could not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A text, and where it stands, for people: a path, and a line or a title in it."""

    text: str
    where: str


@dataclass(frozen=True)
class Problem:
    """What of a file could not be read, and why; the rest of it was. ``line``: from 1 on, 0 where there is none."""

    path: str
    reason: str
    line: int = 0


@dataclass(frozen=True)
class Older:
    """How many lines of a file were not UTF-8, and were read as older programs write them."""

    path: str
    lines: int


Read = Document | Problem | Older
Reads = Iterator[Read]
