"""Beginnings of conversations that have left their slot: kept in memory while there is room, and put back.

Reading a prompt again takes a thousand times longer than copying what was computed for it. They stay in this
process and end with it: what a family said never lies on a disk as numbers that nobody can delete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.native import SequenceState
from engine.served import AdapterSet
from engine.slots import common_prefix


@dataclass(eq=False)
class Prefix:
    """What one sequence of the cache held: ``tokens`` computed with ``adapters``."""

    tokens: list[int]
    adapters: AdapterSet
    state: SequenceState

    def common(self, prompt: Sequence[int], adapters: AdapterSet) -> int:
        """How many tokens of ``prompt`` it begins with."""
        return common_prefix(self.tokens, prompt) if self.adapters == adapters else 0


class PrefixStore:
    """The latest of them, at most ``limit`` bytes. Not safe for several threads at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[Prefix] = []  # the least recently used first
        self.bytes = 0

    def fits(self, size: int) -> bool:
        """Whether ``size`` bytes can be kept at all."""
        return size <= self._limit

    def add(self, prefix: Prefix) -> None:
        """Keep one; those that it continues are in it already, and the least recently used make room."""
        for older in [each for each in self._kept if prefix.common(each.tokens, each.adapters) == len(each.tokens)]:
            self._drop(older)
        self._kept.append(prefix)
        self.bytes += len(prefix.state)
        while self.bytes > self._limit:
            self._drop(self._kept[0])

    def best(self, prompt: Sequence[int], adapters: AdapterSet) -> tuple[int, Prefix | None]:
        """How much of ``prompt`` the one that holds most of it has, and that one."""
        found = max(self._kept, key=lambda each: each.common(prompt, adapters), default=None)
        return (found.common(prompt, adapters), found) if found else (0, None)

    def touch(self, prefix: Prefix) -> None:
        """It was used just now."""
        self._kept.remove(prefix)
        self._kept.append(prefix)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self.bytes = 0

    def _drop(self, prefix: Prefix) -> None:
        self._kept.remove(prefix)
        self.bytes -= len(prefix.state)
