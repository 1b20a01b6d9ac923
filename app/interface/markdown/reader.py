"""Markdown read line by line into leaves, with a way back: the last line of a stream is only provisional.

It reads what assistants write, leniently: headings, paragraphs, nested lists, quotes, fences, tables, rules. Text
that is none of these is a paragraph, shown as written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from app.interface.markdown.leaves import HEADINGS, Code, Leaf, Paragraph, Rule
from app.interface.markdown.lines import Look, Span
from app.interface.markdown.table import DELIMITER, Table, cells

_FENCE: Final = re.compile(r"(`{3,}|~{3,})\s*([^`\s]*)[^`]*")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)(?:\s+#+)?\s*")
_RULE: Final = re.compile(r"([-*_])(?:\s*\1){2,}\s*")
_ITEM: Final = re.compile(r"([-*+]|\d{1,9}[.)])(?:\s+|$)")
_TASK: Final = re.compile(r"\[([ xX])\]\s+")
_BULLETS: Final = "•◦▪"
_TAB: Final = 4


class Bounds(NamedTuple):
    """What keeps the open block cheap: the most characters in a paragraph, the rows that settle a table's widths."""

    paragraph: int
    table_rows: int


class _Item(NamedTuple):
    """An open list item: where its marker stands, and the cells that its text is indented by on the screen."""

    marker_at: int
    indent: int
    numbered: bool


class _Fence(NamedTuple):
    mark: str
    indent: int


@dataclass(frozen=True)
class _Mark:
    """All that a provisional line may change."""

    count: int
    last: Leaf | None
    last_lines: int
    open_leaf: Leaf | None
    items: tuple[_Item, ...]
    fence: _Fence | None
    quotes: int
    blank: bool


class Reader:
    """Feeds on lines; ``leaves`` grows. ``dirty`` is the first leaf that changed since somebody set it."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self.leaves: list[Leaf] = []
        self.dirty = 0
        self._open: Leaf | None = None
        self._items: list[_Item] = []
        self._fence: _Fence | None = None
        self._quotes = 0
        self._blank = False

    def mark(self) -> _Mark:
        """The state to come back to with ``rewind``."""
        last = self.leaves[-1] if self.leaves else None
        lines = len(last.source) if last else 0
        return _Mark(
            len(self.leaves), last, lines, self._open, tuple(self._items), self._fence, self._quotes, self._blank
        )

    def rewind(self, mark: _Mark) -> None:
        """Undo everything read since ``mark``."""
        del self.leaves[mark.count :]
        if mark.last is not None:
            self.leaves[-1:] = [mark.last]
            mark.last.withdraw(mark.last_lines)
        self.dirty = min(self.dirty, max(0, mark.count - 1))
        self._open, self._fence, self._quotes, self._blank = mark.open_leaf, mark.fence, mark.quotes, mark.blank
        self._items = list(mark.items)

    def line(self, text: str) -> None:
        """Read one line, without its newline."""
        text = text.expandtabs(_TAB)
        if self._fence is not None:
            self._code_line(text, self._fence)
            return
        quotes, text = _unquoted(text)
        if quotes != self._quotes:
            self._open = None
            self._items.clear()
            self._quotes = quotes
        if not text.strip():
            self._blank = True
            self._open = None
            return
        if not self._continues(text):
            self._begin(text)
        self._blank = False

    def _code_line(self, text: str, fence: _Fence) -> None:
        _, text = _unquoted(text, self._quotes)
        bare = text.strip()
        if len(bare) >= len(fence.mark) and set(bare) == set(fence.mark[0]):
            self._fence = None
            self._open = None
            return
        indent = min(len(text) - len(text.lstrip(" ")), fence.indent)
        self._extend(text[indent:])

    def _extend(self, text: str) -> None:
        """Add a source line to the last leaf."""
        self.leaves[-1].source.append(text)
        self.dirty = min(self.dirty, len(self.leaves) - 1)

    def _continues(self, text: str) -> bool:
        """Whether the line goes on with the open paragraph or table, and if so, read it as that."""
        bare = text.strip()
        if isinstance(self._open, Table):
            if "|" in bare:
                self._extend(text)
                return True
            self._open = None
        if not isinstance(self._open, Paragraph):
            return False
        if "|" in bare and DELIMITER.fullmatch(bare) and "|" in self._open.source[-1]:
            self._table(self._open, bare)
            return True
        if _begins_block(bare):
            self._open = None
            return False
        self._extend(text)
        if self._open.size > self._bounds.paragraph:
            self._open = None
        return True

    def _table(self, paragraph: Paragraph, delimiter: str) -> None:
        """The paragraph's last line was a table's header."""
        header = paragraph.source[-1]
        if len(cells(delimiter)) < 2 and not delimiter.startswith("|"):
            self._extend(delimiter)
            return
        alone = len(paragraph.source) == 1
        first = paragraph.first if alone else paragraph.rest
        table = Table(header, delimiter, self._bounds.table_rows, first, paragraph.rest, gap=paragraph.gap or not alone)
        if alone:
            self.leaves[-1] = table
            self.dirty = min(self.dirty, len(self.leaves) - 1)
        else:
            # A copy stands in its place, so that the paragraph itself is whole again should this be undone.
            shortened = Paragraph(paragraph.first, paragraph.rest, gap=paragraph.gap)
            shortened.source = paragraph.source[:-1]
            self.leaves[-1] = shortened
            self.dirty = min(self.dirty, len(self.leaves) - 1)
            self._add(table)
        self._open = table

    def _begin(self, text: str) -> None:
        """Start the block that the line opens, list markers first."""
        bars = [Span("▌ ", Look.RULE)] * self._quotes
        at = len(text) - len(text.lstrip(" "))
        bare = text.strip()
        item = None if _RULE.fullmatch(bare) else _ITEM.match(bare)
        before = None
        while self._items and at <= self._items[-1].marker_at:
            before = self._items.pop()
        if item is None and not self._items and at >= _TAB:
            self._code("", text[_TAB:], bars, bars)
            return
        first = [*bars, Span(" " * (self._items[-1].indent if self._items else 0))]
        while item is not None:
            marker = item.group(1)
            shown = marker if marker[0].isdigit() else _BULLETS[min(len(self._items), len(_BULLETS) - 1)]
            task = _TASK.match(bare, item.end())
            end = task.end() if task else item.end()
            if task:
                shown = "☑" if task.group(1) in "xX" else "☐"
            first.append(Span(f"{shown} ", Look.ACCENT))
            indent = (self._items[-1].indent if self._items else 0) + len(shown) + 1
            numbered = marker[0].isdigit()
            goes_on = before is not None and before.numbered == numbered
            self._items.append(_Item(at, indent, numbered))
            at += end
            bare = bare[end:].lstrip()
            item = None if _RULE.fullmatch(bare) else _ITEM.match(bare)
            self._blank = self._blank and not (goes_on and self._tight())
        rest = [*bars, Span(" " * (self._items[-1].indent if self._items else 0))]
        self._leaf(bare, first, rest, at)

    def _tight(self) -> bool:
        """Blank lines between one-line items say nothing: the list stays together."""
        return bool(self.leaves) and isinstance(self.leaves[-1], Paragraph) and len(self.leaves[-1].source) <= 1

    def _leaf(self, bare: str, first: list[Span], rest: list[Span], at: int) -> None:
        if fence := _FENCE.fullmatch(bare):
            self._fence = _Fence(fence.group(1), at)
            self._code(fence.group(2), None, first, rest)
        elif heading := _HEADING.fullmatch(bare):
            look = HEADINGS.get(len(heading.group(1)), Look.STRONG)
            self._add(Paragraph(first, rest, gap=True, look=look))
            self._extend(heading.group(2))
            self._open = None
            # What follows a heading belongs to it.
        elif _RULE.fullmatch(bare):
            self._add(Rule(first, rest, gap=True))
        else:
            paragraph = Paragraph(first, rest, gap=self._blank or self._after_wide())
            self._add(paragraph)
            self._extend(bare)
            self._open = paragraph

    def _after_wide(self) -> bool:
        """Whether the last block is one that keeps its distance."""
        return bool(self.leaves) and isinstance(self.leaves[-1], Code | Table | Rule)

    def _code(self, language: str, text: str | None, first: list[Span], rest: list[Span]) -> None:
        last = self.leaves[-1] if self.leaves else None
        if text is not None and isinstance(self._open, Code) and self._open is last:
            self._extend(text)
            return
        code = Code(language, first, rest, gap=True)
        self._add(code)
        if text is not None:
            self._extend(text)
        self._open = code

    def _add(self, leaf: Leaf) -> None:
        leaf.gap = leaf.gap and bool(self.leaves)
        self.leaves.append(leaf)
        self.dirty = min(self.dirty, len(self.leaves) - 1)


def _begins_block(bare: str) -> bool:
    """Whether a line interrupts a paragraph. A number other than 1 does not: it may be a year at a line's start."""
    item = _ITEM.match(bare)
    numbered = item is not None and item.group(1)[0].isdigit()
    return bool(
        (item and item.end() < len(bare) and (not numbered or len(item.group(1)) <= 3))
        or _FENCE.fullmatch(bare)
        or _HEADING.fullmatch(bare)
        or _RULE.fullmatch(bare)
    )


def _unquoted(text: str, most: int = 99) -> tuple[int, str]:
    """(how many ``>`` the line begins with, what follows them)."""
    depth = 0
    while depth < most:
        bare = text.lstrip(" ")
        if not bare.startswith(">") or len(text) - len(bare) >= _TAB:
            break
        text = bare[1:].removeprefix(" ")
        depth += 1
    return depth, text
