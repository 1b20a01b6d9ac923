"""One answer as rows, kept up to date as its text arrives."""

from __future__ import annotations

from app.interface.markdown.lines import BLANK, Line
from app.interface.markdown.reader import Bounds, Reader


class Document:
    """``feed`` text as it comes, ``refresh`` as often as the screen wants: only what is open is laid out again."""

    def __init__(self, bounds: Bounds, width: int) -> None:
        self.lines: list[Line] = []
        self._bounds = bounds
        self._width = max(1, width)
        self._reader = Reader(bounds)
        self._starts: list[int] = []
        self._pending = ""
        self._provisional = self._reader.mark()
        self._is_provisional = False

    @classmethod
    def of(cls, text: str, bounds: Bounds, width: int) -> Document:
        """A whole text, laid out."""
        document = cls(bounds, width)
        document.feed(text)
        document.refresh()
        return document

    def feed(self, text: str) -> None:
        """Take clean text; finished lines are read, the rest waits."""
        self._retract()
        *whole, self._pending = (self._pending + text).split("\n")
        for line in whole:
            self._read_bounded(line)
        if len(self._pending) > self._bounds.paragraph:
            self._pending = self._read_bounded(self._pending, keep_rest=True)

    def refresh(self) -> int:
        """Lay out what changed; returns the index of the first row that may differ from before."""
        self._retract()
        if self._pending:
            self._provisional = self._reader.mark()
            self._is_provisional = True
            self._reader.line(self._pending)
        leaves = self._reader.leaves
        number = min(self._reader.dirty, len(leaves))
        self._reader.dirty = len(leaves)
        del self._starts[number + 1 :]
        if number == len(leaves):
            # What was there went away with a provisional line.
            begin = self._starts[number] if number < len(self._starts) else len(self.lines)
            del self._starts[number:]
            del self.lines[begin:]
            return begin
        return min(self._lay(position) for position in range(number, len(leaves)))

    def resize(self, width: int) -> None:
        """Lay everything out again for ``width`` cells, if that is another width."""
        if width == self._width:
            return
        self._width = max(1, width)
        self.lines.clear()
        self._starts.clear()
        for leaf in self._reader.leaves:
            leaf.forget()
        self._reader.dirty = 0
        self.refresh()

    def _lay(self, position: int) -> int:
        """Lay out what is new in one leaf, whose rows become the last; returns the first row touched."""
        leaf = self._reader.leaves[position]
        if position == len(self._starts):
            self._starts.append(len(self.lines))
            leaf.forget()
        row, fresh = leaf.tail(self._width)
        first = self._starts[position] + (row + leaf.gap if row else 0)
        del self.lines[first:]
        if leaf.gap and not row:
            self.lines.append(BLANK)
        self.lines.extend(fresh)
        return first

    def _retract(self) -> None:
        if self._is_provisional:
            self._reader.rewind(self._provisional)
            self._is_provisional = False

    def _read_bounded(self, line: str, *, keep_rest: bool = False) -> str:
        """Read a line in pieces no longer than a paragraph may be, cut at blanks; the last is read too, or returned."""
        most = self._bounds.paragraph
        while len(line) > most:
            cut = line.rfind(" ", most // 2, most) + 1 or most
            self._reader.line(line[:cut])
            line = line[cut:]
        if keep_rest:
            return line
        self._reader.line(line)
        return ""
