"""The blocks that an answer is made of, each able to lay out what is new in it at a bounded cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.interface.markdown.code import Grammar, colour, grammar
from app.interface.markdown.inline import inline
from app.interface.markdown.lines import Line, Look, Span, breaks, slice_spans, wrap

HEADINGS: Final = {1: Look.HEADING | Look.STRONG | Look.RULE, 2: Look.HEADING | Look.STRONG}


class Leaf:
    """A block without blocks inside. ``first`` and ``rest`` go before its rows (bullet or number, indent, bars).

    ``source`` grows while the block is open. ``tail`` gives the rows that changed since it was last asked.
    """

    def __init__(self, first: Sequence[Span] = (), rest: Sequence[Span] = (), *, gap: bool = False) -> None:
        self.first = tuple(first)
        self.rest = tuple(rest)
        self.gap = gap
        self.source: list[str] = []

    def tail(self, width: int) -> tuple[int, list[Line]]:
        """(index of the first row that changed, the rows from there on) at ``width`` cells."""
        return 0, self._layout(width)

    def forget(self) -> None:
        """The width changed: the next ``tail`` gives everything."""

    def withdraw(self, count: int) -> None:
        """Keep only the first ``count`` source lines: what came after was provisional."""
        del self.source[count:]

    def _layout(self, width: int) -> list[Line]:
        raise NotImplementedError


class Paragraph(Leaf):
    """Running text; ``look`` is that of a heading where it is one."""

    def __init__(
        self, first: Sequence[Span] = (), rest: Sequence[Span] = (), *, gap: bool = False, look: Look = Look.PLAIN
    ) -> None:
        super().__init__(first, rest, gap=gap)
        self.look = look

    @property
    def size(self) -> int:
        """Characters so far."""
        return sum(len(line) for line in self.source)

    def _layout(self, width: int) -> list[Line]:
        spans = inline("\n".join(line.lstrip() for line in self.source), self.look)
        return wrap(spans, width, self.first, self.rest) or [Line(self.first)]


class Rule(Leaf):
    """A line across."""

    def _layout(self, width: int) -> list[Line]:
        prefix = sum(len(span.text) for span in self.first)
        return [Line((*self.first, Span("─" * max(3, width - prefix), Look.RULE)))]


class Code(Leaf):
    """Fenced or indented code on a ground of its own; rows are laid out once each, however many there are."""

    def __init__(
        self, language: str, first: Sequence[Span] = (), rest: Sequence[Span] = (), *, gap: bool = False
    ) -> None:
        super().__init__(first, rest, gap=gap)
        self.language = language
        self._rules: Grammar | None = grammar(language)
        self._rows_before: list[int] = []
        self._inside: list[int] = []
        self._laid_height = 0

    def tail(self, width: int) -> tuple[int, list[Line]]:
        fresh: list[Line] = []
        start = self._laid_height
        if not self._rows_before and self.language and not self._laid_height:
            fresh.append(Line((*self.first, Span(f" {self.language}", Look.DIM)), ground=True))
        for number in range(len(self._rows_before), len(self.source)):
            self._rows_before.append(start + len(fresh))
            fresh.extend(self._rows(self.source[number], number, width, first=start + len(fresh) == 0))
        if start + len(fresh) == 0:
            fresh.append(Line(self.first, ground=True))
            return 0, fresh
        self._laid_height = start + len(fresh)
        return start, fresh

    def forget(self) -> None:
        self._rows_before.clear()
        self._inside.clear()
        self._laid_height = 0

    def withdraw(self, count: int) -> None:
        super().withdraw(count)
        if len(self._rows_before) > count:
            self._laid_height = self._rows_before[count]
            del self._rows_before[count:]
            del self._inside[count:]

    def _rows(self, text: str, number: int, width: int, *, first: bool) -> list[Line]:
        prefix = self.first if first else self.rest
        spans = [Span(text)]
        inside = self._inside[number - 1] if number else 0
        if self._rules is not None:
            spans, inside = colour(text, self._rules, inside)
        self._inside.append(inside)
        room = max(4, width - sum(len(span.text) for span in prefix) - 2)
        return [
            Line((*(prefix if row == 0 else self.rest), Span(" "), *slice_spans(spans, start, end)), row > 0, True)
            for row, (start, end) in enumerate(breaks(text, room))
        ]
