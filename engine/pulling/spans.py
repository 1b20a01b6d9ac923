"""Which bytes of a file are there: a set of spans, each from its first byte up to, without, its last."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

Span = tuple[int, int]


class Spans:
    """Spans that do not touch each other, in order."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._spans: list[Span] = []
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """The bytes from ``start`` to ``end`` are there too."""
        if start >= end:
            return
        first = bisect.bisect_left(self._spans, start, key=lambda span: span[1])
        last = bisect.bisect_right(self._spans, end, key=lambda span: span[0])
        if first < last:
            start, end = min(start, self._spans[first][0]), max(end, self._spans[last - 1][1])
        self._spans[first:last] = [(start, end)]

    def gaps(self, size: int) -> list[Span]:
        """What is missing of ``size`` bytes, in order."""
        found, place = [], 0
        for start, end in self._spans:
            if start >= size:
                break
            if start > place:
                found.append((place, start))
            place = end
        if place < size:
            found.append((place, size))
        return found

    def __len__(self) -> int:
        """How many bytes are there."""
        return sum(end - start for start, end in self._spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(list(self._spans))


def pieces(gaps: Iterable[Span], length: int) -> list[Span]:
    """The gaps cut into pieces of at most ``length`` bytes, in order."""
    return [(at, min(at + length, end)) for start, end in gaps for at in range(start, end, length)]
