"""One turn of the transcript as rows: who speaks, what is said, what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.interface.markdown.document import Document
from app.interface.markdown.lines import BLANK, Line, Look, Span, width_of, wrap
from app.interface.markdown.reader import Bounds


@dataclass(eq=False)
class Entry:
    """What is shown of one message. All texts are clean already.

    ``title`` and ``aside`` are the ends of the first row; ``notes`` follow the text (sources, marks, warnings);
    ``hints`` are shown while the entry is the focused one. ``reserved`` rows take the text's place while it is edited.
    """

    key: str
    title: tuple[Span, ...]
    aside: str = ""
    text: str = ""
    markdown: bool = True
    notes: tuple[tuple[Span, ...], ...] = ()
    hints: tuple[Span, ...] = ()
    reserved: int = 0
    document: Document | None = field(default=None, repr=False, compare=False)

    def head(self, width: int) -> list[Line]:
        """The row that says who speaks, wrapped where it must be."""
        missing = width - width_of(self.title) - len(self.aside)
        if self.aside and missing >= 1:
            return [Line((*self.title, Span(" " * missing), Span(self.aside, Look.DIM)))]
        return wrap(self.title, width)

    def body(self, width: int, bounds: Bounds) -> list[Line]:
        """The text's rows (those of the live document, for an answer)."""
        if self.reserved:
            return [BLANK] * self.reserved
        if not self.markdown:
            return wrap([Span(self.text.expandtabs(4))], width)
        if self.document is None:
            self.document = Document.of(self.text, bounds, width)
        else:
            self.document.resize(width)
        return self.document.lines

    def foot(self, width: int, *, focused: bool) -> list[Line]:
        """Notes, the hints if this entry has the focus, and the row that keeps turns apart."""
        rows: list[Line] = []
        for note in self.notes:
            # One that begins with blanks is indented in all of its rows.
            edge = note[:1] if note and note[0].text.isspace() else ()
            rows += wrap(note[len(edge) :], width, edge, edge)
        if focused and self.hints and not self.reserved:
            rows += wrap(self.hints, width)
        return [*rows, BLANK]

    def say(self, text: str) -> None:
        """Replace the text."""
        self.text = text
        self.document = None
