"""Found words in the text around them: bold and underlined, so that they are seen without colours too."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from app.terminal_text import StreamCleaner

_MARKED: Final = "bold underline"
# How much of a cut excerpt stands before the first of its marks.
_BEFORE: Final = 3

Marks = Sequence[tuple[int, int]]


def marked_text(text: str, marks: Marks, style: str = "") -> Text:
    """``text`` made harmless, with the ``marks`` ((start, end) in it, in their order) to be seen."""
    cleaner, shown, at = StreamCleaner(), Text(style=style), 0
    # Cleaned in pieces by one cleaner: a sequence that begins before a mark is still dropped inside of it.
    for start, end in marks:
        shown.append(cleaner.feed(text[at:start]))
        shown.append(cleaner.feed(text[start:end]), _MARKED)
        at = end
    shown.append(cleaner.feed(text[at:]))
    shown.append(cleaner.flush())
    return shown


def excerpt(text: str, marks: Marks, width: int, style: str = "") -> Text:
    """One row of ``width`` cells around the first of the marks."""
    shown = marked_text(text.replace("\n", " "), marks, style)
    first = shown.spans[0].start if shown.spans else 0
    last = shown.spans[0].end if shown.spans else 0
    if cell_len(shown.plain[:last]) > width:
        # From a word before it on, or as near to it as it takes to show it whole between two signs of what is left out.
        start = max(shown.plain.rfind(" ", 0, max(0, first - width // _BEFORE)) + 1, last + 2 - width)
        shown = Text("…", style) + shown[start:]
    shown.truncate(width, overflow="ellipsis")
    return shown


def first_marked_row(text: Text, width: int) -> int:
    """In which row, from 0, the first mark stands where ``text`` is wrapped to ``width`` cells; 0 for none."""
    start = next((span.start for span in text.spans if span.style == _MARKED), None)
    return 0 if start is None else len(text[: start + 1].wrap(_console(), width)) - 1


@cache
def _console() -> Console:
    return Console(width=80, file=io.StringIO())
