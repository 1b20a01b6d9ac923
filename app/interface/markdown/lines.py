"""A line on the screen: pieces of text with a look, wrapped to a width counted in cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntFlag
from typing import Final, NamedTuple

from rich.cells import cell_len, chop_cells


class Look(IntFlag):
    """How a piece of text looks. A theme gives each combination its style; none of them is a colour alone."""

    PLAIN = 0
    STRONG = 1
    EMPHASIS = 2
    STRUCK = 4
    CODE = 8
    LINK = 16
    HEADING = 32
    DIM = 64
    ACCENT = 128
    RULE = 256
    KEYWORD = 512
    STRING = 1024
    COMMENT = 2048
    NUMBER = 4096
    WARNING = 8192
    SUCCESS = 16384
    MEMBER = 32768


class Span(NamedTuple):
    """A piece of text; ``action`` names what a click on it does."""

    text: str
    look: Look = Look.PLAIN
    action: str = ""


class Line(NamedTuple):
    """One row. ``joins``: it goes on where the row before was wrapped, so a copy has no newline between them."""

    spans: tuple[Span, ...]
    joins: bool = False
    ground: bool = False

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


BLANK: Final = Line(())
_WORDS: Final = re.compile(r"\s*\S+|\s+$")


def width_of(spans: Iterable[Span]) -> int:
    """Cells that the spans take."""
    return sum(cell_len(span.text) for span in spans)


def breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Where ``text`` (no newlines) is cut to fit ``width`` cells: (start, end) of each row, at least one.

    Rows break between words; the blank at a break belongs to no row. A word longer than a row is cut.
    """
    if cell_len(text) <= width:
        return [(0, len(text))]
    rows: list[tuple[int, int]] = []
    start, used, stop = 0, 0, len(text)
    for word in _WORDS.finditer(text):
        piece = word.group()
        size = cell_len(piece)
        if used + size <= width:
            used += size
            continue
        bare = piece.lstrip()
        if not bare:
            # Blanks that stick out at the end are nobody's.
            stop = word.start()
            break
        begin = word.end() - len(bare)
        if word.start() > start:
            rows.append((start, word.start()))
        else:
            begin = word.start()
            bare = piece
        parts = chop_cells(bare, width) if cell_len(bare) > width else [bare]
        for part in parts[:-1]:
            rows.append((begin, begin + len(part)))
            begin += len(part)
        start, used = begin, cell_len(text[begin : word.end()])
    rows.append((start, stop))
    return rows


def slice_spans(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The part of ``spans`` between two offsets of their joined text."""
    taken: list[Span] = []
    position = 0
    for span in spans:
        after = position + len(span.text)
        if after > start and position < end:
            taken.append(span._replace(text=span.text[max(0, start - position) : end - position]))
        position = after
        if position >= end:
            break
    return tuple(taken)


def split_rows(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans cut at their newlines."""
    rows: list[list[Span]] = [[]]
    for span in spans:
        first, *others = span.text.split("\n")
        if first:
            rows[-1].append(span._replace(text=first))
        rows.extend([span._replace(text=other)] if other else [] for other in others)
    return rows


def wrap(spans: Iterable[Span], width: int, first: Sequence[Span] = (), rest: Sequence[Span] = ()) -> list[Line]:
    """Rows of at most ``width`` cells, the first after ``first`` and the others after ``rest`` (bullets, bars)."""
    room = max(1, width - max(width_of(first), width_of(rest)))
    lines: list[Line] = []
    for row in split_rows(spans):
        text = "".join(span.text for span in row)
        for number, (start, end) in enumerate(breaks(text, room)):
            prefix = rest if lines else first
            lines.append(Line((*prefix, *slice_spans(row, start, end)), joins=number > 0))
    return lines
