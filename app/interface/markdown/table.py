"""Tables whose rows are laid out once each: the first rows decide the widths, later ones wrap inside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.interface.markdown.inline import inline
from app.interface.markdown.leaves import Leaf
from app.interface.markdown.lines import Line, Look, Span, width_of, wrap

DELIMITER: Final = re.compile(r"\s{0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_BARS: Final = re.compile(r"(?<!\\)\|")
_SEPARATOR: Final = Span(" │ ", Look.RULE)
_NARROWEST: Final = 5


def cells(row: str) -> list[str]:
    """The cells of a row as written, the outer bars left out."""
    text = row.strip()
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _BARS.split(text)]


class Table(Leaf):
    """``source`` is the header row and the rows; the delimiter row gives ``alignments``.

    The widths are settled by the first ``measured_rows`` rows, so that a table of a thousand rows costs for each row
    what one of ten does. Where the columns would be too narrow, each row is a short list of "header: cell".
    """

    def __init__(
        self,
        header: str,
        delimiter: str,
        measured_rows: int,
        first: Sequence[Span] = (),
        rest: Sequence[Span] = (),
        *,
        gap: bool = False,
    ) -> None:
        super().__init__(first, rest, gap=gap)
        self.source.append(header)
        self._measured_rows = measured_rows
        self._alignments = [_alignment(mark) for mark in cells(delimiter)]
        self._columns = max(len(cells(header)), 1)
        self._rows_before: list[int] = []
        self._widths: list[int] = []
        self._laid_height = 0

    def tail(self, width: int) -> tuple[int, list[Line]]:
        if len(self._rows_before) < self._measured_rows or not self._widths:
            widths = self._measure(width)
            if widths != self._widths:
                self.forget()
                self._widths = widths
        start = self._laid_height
        fresh: list[Line] = []
        for number in range(len(self._rows_before), len(self.source)):
            self._rows_before.append(start + len(fresh))
            fresh.extend(self._row(number, width))
        self._laid_height = start + len(fresh)
        return start, fresh

    def forget(self) -> None:
        self._rows_before.clear()
        self._widths = []
        self._laid_height = 0

    def withdraw(self, count: int) -> None:
        super().withdraw(count)
        if len(self._rows_before) > count:
            self._laid_height = self._rows_before[count]
            del self._rows_before[count:]

    def _measure(self, width: int) -> list[int]:
        """Cells for each column; empty widths of 0 where the columns cannot stand side by side."""
        rows = [self._cells(row) for row in self.source[: self._measured_rows]]
        natural = [max(1, *(width_of(inline(row[column])) for row in rows)) for column in range(self._columns)]
        room = width - width_of(self.rest) - (self._columns - 1) * len(_SEPARATOR.text)
        if sum(natural) <= room:
            return natural
        if room < self._columns * _NARROWEST:
            return [0] * self._columns
        return _shared(natural, room)

    def _cells(self, row: str) -> list[str]:
        found = cells(row)[: self._columns]
        return found + [""] * (self._columns - len(found))

    def _row(self, number: int, width: int) -> list[Line]:
        look = Look.STRONG if number == 0 else Look.PLAIN
        row = self._cells(self.source[number])
        if not any(self._widths):
            return self._stacked(row, number, width)
        wrapped = [wrap(inline(cell, look), size) for cell, size in zip(row, self._widths, strict=True)]
        lines = [self._beside(wrapped, level) for level in range(max(len(cell) for cell in wrapped))]
        if number == 0:
            bar = "─┼─".join("─" * size for size in self._widths)
            lines.append(Line((*self.rest, Span(bar, Look.RULE))))
            lines[0] = lines[0]._replace(spans=(*self.first, *lines[0].spans[len(self.rest) :]))
        return lines

    def _beside(self, wrapped: list[list[Line]], level: int) -> Line:
        spans: list[Span] = list(self.rest)
        for column, (cell, size) in enumerate(zip(wrapped, self._widths, strict=True)):
            inner = cell[level].spans if level < len(cell) else ()
            missing = max(0, size - width_of(inner))
            before = {"right": missing, "center": missing // 2}.get(self._align(column), 0)
            spans += [_SEPARATOR] if column else []
            spans += [Span(" " * before), *inner, Span(" " * (missing - before))]
        return Line(tuple(spans))

    def _stacked(self, row: list[str], number: int, width: int) -> list[Line]:
        if number == 0:
            return []
        lines: list[Line] = []
        for name, cell in zip(self._cells(self.source[0]), row, strict=True):
            spans = [*inline(name, Look.STRONG), Span(": "), *inline(cell)]
            lines += wrap(spans, width, self.rest, (*self.rest, Span("  ")))
        return [*lines, Line((*self.rest, Span("─" * 3, Look.RULE)))]

    def _align(self, column: int) -> str:
        return self._alignments[column] if column < len(self._alignments) else "left"


def _alignment(mark: str) -> str:
    if mark.endswith(":"):
        return "center" if mark.startswith(":") else "right"
    return "left"


def _shared(natural: list[int], room: int) -> list[int]:
    """``room`` cells shared out: narrow columns keep what they need, the wide ones share the rest evenly."""
    widths = [0] * len(natural)
    left = room
    for place, (size, column) in enumerate(sorted((size, column) for column, size in enumerate(natural))):
        share = left // (len(natural) - place)
        widths[column] = min(size, share)
        left -= widths[column]
    return widths
