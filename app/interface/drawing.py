"""A row of text as Textual draws it: margin, colours, the ground of code, and what is selected."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from app.interface.markdown.lines import Line, Look
from app.interface.themes import style_of

# Cells left of every row, where the focused entry has its bar.
GUTTER: Final = 2
_FOCUS_BAR: Final = "▎ "
_NO_BAR: Final = "  "


@dataclass(frozen=True)
class Pen:
    """What all rows are drawn with. ``width``: the widget's; ``reading_width``: that of the text; in cells."""

    choice: str
    width: int
    reading_width: int

    def blank(self) -> Strip:
        """A row with nothing on it."""
        return Strip.blank(self.width, style_of(Look.PLAIN, self.choice))

    def draw(self, line: Line, *, focused: bool, selected: tuple[int, int] | None, mark: Style) -> Strip:
        """One row. ``selected``: first and last+1 character that is, -1 for the end; ``mark`` is how it looks."""
        plain = style_of(Look.PLAIN, self.choice)
        segments = [Segment(_FOCUS_BAR if focused else _NO_BAR, style_of(Look.ACCENT, self.choice))]
        used = GUTTER
        for text, look, action in line.spans:
            style = style_of(look, self.choice, raised=line.ground)
            segments.append(Segment(text, style + Style.from_meta({"@click": action}) if action else style))
            used += cell_len(text)
        if line.ground:
            edge = GUTTER + self.reading_width
            segments.append(Segment(" " * max(0, edge - used), style_of(Look.PLAIN, self.choice, raised=True)))
            used = max(used, edge)
        segments.append(Segment(" " * max(0, self.width - used), plain))
        if selected is not None:
            segments = _marked(segments, selected, mark)
        return Strip(segments).adjust_cell_length(self.width, plain)


def _marked(segments: Sequence[Segment], selected: tuple[int, int], mark: Style) -> list[Segment]:
    """The segments, those in the selection in its colours."""
    length = sum(len(segment.text) for segment in segments)
    start, end = selected[0], length if selected[1] == -1 else min(selected[1], length)
    marked: list[Segment] = []
    at = 0
    for text, style, _ in segments:
        cuts = sorted({0, len(text), min(max(start - at, 0), len(text)), min(max(end - at, 0), len(text))})
        for begin, stop in itertools.pairwise(cuts):
            inside = start <= at + begin < end
            marked.append(Segment(text[begin:stop], (style or Style()) + mark if inside else style))
        at += len(text)
    return marked
