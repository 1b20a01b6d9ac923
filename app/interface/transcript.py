"""The conversation as one widget of rows: only those on the screen are ever drawn.

A long answer costs the layout nothing, since it is no tree of widgets; a streaming one is laid out where it grows and
drawn at most ``frames_per_second`` times. To drive it elsewhere (a benchmark, a test): mount ``Transcript(settings)``,
then ``show``, ``begin(Entry(...))``, ``stream(text)`` as pieces arrive and ``finish()``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.interface.drawing import GUTTER, Pen
from app.interface.entries import Entry
from app.interface.markdown.document import Document
from app.interface.markdown.lines import Line
from app.interface.markdown.reader import Bounds

if TYPE_CHECKING:
    from textual import events
    from textual.selection import Selection
    from textual.timer import Timer

    from configs.sections.interface import InterfaceSettings


class Transcript(ScrollView, can_focus=True):
    """Entries one under another. Following the end stops when the reader scrolls up, and a selection pauses it."""

    DEFAULT_CSS = """
    Transcript {
        background: $background;
        overflow: hidden auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]

    class FollowChanged(Message):
        """The reader left the end of the conversation, or came back to it."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, settings: InterfaceSettings, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.entries: list[Entry] = []
        self.focused_entry: Entry | None = None
        self.following = True
        self._settings = settings
        self._bounds = Bounds(settings.paragraph_bound, settings.table_measured_rows)
        self._lines: list[Line] = []
        self._starts: list[int] = []
        self._strips: dict[int, Strip] = {}
        self._live: Entry | None = None
        self._stale = False
        self._timer: Timer | None = None

    # What is shown

    def show(self, entries: Sequence[Entry]) -> None:
        """Replace everything, and go to the end."""
        self._stop_timer()
        self._live = None
        self.entries = list(entries)
        self.focused_entry = None
        self.following = True
        self._lay_out()

    def update(self, entries: Sequence[Entry]) -> None:
        """Replace everything, the reader's place and the focus kept where they still exist."""
        self._stop_timer()
        self._live = None
        self.entries = list(entries)
        if self.focused_entry not in self.entries:
            key = self.focused_entry.key if self.focused_entry else None
            self.focused_entry = next((entry for entry in self.entries if entry.key == key), None)
        self._lay_out()

    def begin(self, entry: Entry) -> None:
        """Add an entry at the end; ``stream`` adds to its text."""
        self.entries.append(entry)
        entry.document = Document(self._bounds, self.reading_width) if entry.markdown else None
        self._live = entry if entry.markdown else None
        self._lay_out(len(self.entries) - 1)
        if self._live is not None and self._timer is None:
            self._timer = self.set_interval(1 / self._settings.frames_per_second, self.draw)

    def stream(self, text: str) -> None:
        """The next piece (clean text) of the entry that was begun last. It is drawn with the next frame."""
        if self._live is None or self._live.document is None:
            return
        self._live.text += text
        self._live.document.feed(text)
        self._stale = True

    def finish(self) -> None:
        """The entry that was begun last is complete."""
        self.draw()
        self._stop_timer()
        self._live = None

    def changed(self, entry: Entry) -> None:
        """An entry's title, notes, text or reserved rows changed."""
        if entry in self.entries:
            self._lay_out(self.entries.index(entry))

    def focus_on(self, entry: Entry | None, *, visible: bool = True) -> None:
        """Give the focus (the bar and the hints) to an entry."""
        if entry is self.focused_entry:
            return
        before, self.focused_entry = self.focused_entry, entry
        for changed in (before, entry):
            if changed is not None and changed in self.entries:
                self._lay_out(self.entries.index(changed))
        if entry is not None and visible:
            self.bring(entry)

    def rows_of(self, entry: Entry) -> tuple[int, int]:
        """(first row, rows) of the entry's text, in rows of the whole transcript."""
        start = self._starts[self.entries.index(entry)] + len(entry.head(self.reading_width))
        return start, len(entry.body(self.reading_width, self._bounds))

    @property
    def reading_width(self) -> int:
        """Cells for a row's text."""
        room = (self.scrollable_content_region.width or self.size.width or self._settings.reading_width) - GUTTER - 1
        return max(8, min(room, self._settings.reading_width))

    def draw(self) -> None:
        """Draw what was streamed since the last frame."""
        if not self._stale or self._live is None or self._live.document is None:
            return
        self._stale = False
        document = self._live.document
        first = document.refresh()
        number = self.entries.index(self._live)
        body = self._starts[number] + len(self._live.head(self.reading_width))
        foot = self._live.foot(self.reading_width, focused=self._live is self.focused_entry)
        self._replace(body + first, [*document.lines[first:], *foot])

    # Layout

    def _lay_out(self, since: int = 0) -> None:
        """Collect the rows of the entries from number ``since`` on."""
        del self._starts[since:]
        at = self._starts_end(since)
        rows: list[Line] = []
        for entry in self.entries[since:]:
            self._starts.append(at + len(rows))
            rows += entry.head(self.reading_width)
            rows += entry.body(self.reading_width, self._bounds)
            rows += entry.foot(self.reading_width, focused=entry is self.focused_entry)
        self._replace(at, rows)

    def _starts_end(self, since: int) -> int:
        """The row at which entry number ``since`` begins."""
        if since == 0:
            return 0
        entry = self.entries[since - 1]
        width = self.reading_width
        height = (
            len(entry.head(width))
            + len(entry.body(width, self._bounds))
            + len(entry.foot(width, focused=entry is self.focused_entry))
        )
        return self._starts[since - 1] + height

    def _replace(self, first: int, rows: list[Line]) -> None:
        """The rows from ``first`` on are now these."""
        before = len(self._lines)
        del self._lines[first:]
        self._lines.extend(rows)
        for row in [row for row in self._strips if row >= first]:
            del self._strips[row]
        if len(self._lines) != before:
            self.virtual_size = Size(self.size.width, len(self._lines))
        top = self.scroll_offset.y
        if first < top + self.size.height:
            self.refresh(Region(0, max(0, first - top), self.size.width, self.size.height))
        self._keep_to_end()

    def _keep_to_end(self) -> None:
        if self.following and self.text_selection is None:
            self.scroll_end(animate=False, immediate=True, force=True, x_axis=False)

    def bring(self, entry: Entry) -> None:
        """Scroll so that the entry is seen."""
        number = self.entries.index(entry)
        top = self._starts[number]
        bottom = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._lines)
        height = self.scrollable_content_region.height
        if top < self.scroll_offset.y or bottom - top > height:
            self.scroll_to(y=top, animate=False)
        elif bottom > self.scroll_offset.y + height:
            self.scroll_to(y=bottom - height, animate=False)

    # Textual's side

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        at_end = new_value >= self.max_scroll_y
        following = at_end or (self.following and new_value >= old_value)
        if following != self.following:
            self.following = following
            self.post_message(self.FollowChanged(following))

    def on_resize(self, event: events.Resize) -> None:
        self._strips.clear()
        self._lay_out()

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if 0 <= row < len(self._lines) and self.text_selection is None:
            self.focus_on(self.entries[bisect_right(self._starts, row) - 1], visible=False)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()
        if selection is None:
            self._keep_to_end()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        pieces: list[str] = []
        for row, line in enumerate(self._lines):
            span = selection.get_span(row)
            if span is None:
                continue
            start, end = span
            text = line.text[max(0, start - GUTTER) : None if end == -1 else max(0, end - GUTTER)]
            if pieces:
                pieces.append(" " if line.joins else "\n")
            pieces.append(text)
        return "".join(pieces), "\n"

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strip(row).apply_offsets(0, row)
            self._strips[row] = strip
        return strip

    def _strip(self, row: int) -> Strip:
        choice = "dark" if self.app.current_theme.dark else "light"
        pen = Pen(choice, self.size.width, self.reading_width)
        if row >= len(self._lines):
            return pen.blank()
        number = bisect_right(self._starts, row) - 1
        last_row = (self._starts[number + 1] if number + 1 < len(self._starts) else len(self._lines)) - 1
        return pen.draw(
            self._lines[row],
            focused=self.entries[number] is self.focused_entry and row < last_row and len(self.entries) > 1,
            selected=self.text_selection.get_span(row) if self.text_selection is not None else None,
            mark=self.screen.get_component_rich_style("screen--selection"),
        )

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
