"""A list of any length: only the rows on the screen are drawn, and only the pages they are on are read, in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, work
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.interface.said import Said
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp

# Rows that are read at a time; a few screens of them.
_PAGE: Final = 100
_BAR: Final = "▌ "
_NO_BAR: Final = "  "


class Rows(Protocol):
    """What a list shows. ``page`` is called in threads: it may read, and touches no widget."""

    def __len__(self) -> int: ...

    def page(self, start: int, stop: int, width: int) -> Sequence[Text]:
        """The rows from ``start`` up to ``stop``, clean, each of as many lines as the list gives to one.

        ``width``: cells of a line; what is longer is cut.
        """
        ...


class PagedList(ScrollView, can_focus=True):
    """Rows to walk through by keys. ``highlighted`` is the place of the chosen one; None where there are none."""

    DEFAULT_CSS = """
    PagedList { background: $surface; overflow: hidden auto; scrollbar-size-vertical: 1; }
    PagedList > .paged-list--chosen { background: $panel; color: $foreground; }
    PagedList:focus > .paged-list--chosen { background: $panel; color: $foreground; text-style: bold; }
    PagedList > .paged-list--bar { color: $accent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"paged-list--chosen", "paged-list--bar"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "leaf(-1)", show=False),
        Binding("pagedown", "leaf(1)", show=False),
        Binding("home", "end(False)", show=False),
        Binding("end", "end(True)", show=False),
        Binding("enter", "select", show=False),
    ]
    app: EnlaceApp
    highlighted: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """Another row is the chosen one, or the rows are others."""

        def __init__(self, listing: PagedList, place: int | None) -> None:
            super().__init__()
            self.listing = listing
            self.place = place

        @property
        def control(self) -> PagedList:
            return self.listing

    class Selected(Highlighted):
        """Enter was pressed on a row, or it was clicked when it was the chosen one."""

    def __init__(self, *, lines: int = 1, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        """``lines``: how many lines each row has."""
        super().__init__(id=id)
        self._lines = lines
        self._rows: Rows | None = None
        self._pages: dict[int, Sequence[Text]] = {}
        self._reading: set[int] = set()

    def __len__(self) -> int:
        return len(self._rows) if self._rows is not None else 0

    def show(self, rows: Rows, place: int | None = 0) -> None:
        """Show others; what stood there before stays to be seen until the first of them are read."""
        self._rows = rows
        self._reading.clear()
        self.virtual_size = Size(self.size.width, len(rows) * self._lines)
        chosen = None if not len(rows) else min(max(0, place or 0), len(rows) - 1)
        # Pages far from what is seen are read again when they are; those near it are, whether they were before or not.
        seen = self._page_of(chosen or 0)
        self._pages = {page: shown for page, shown in self._pages.items() if page == seen}
        if len(rows):
            self._want(seen)
        if chosen == self.highlighted:
            self._tell()
        self.highlighted = chosen
        self.refresh()

    def changed(self) -> None:
        """Read the rows anew: what they say is another thing now."""
        for page in list(self._pages):
            self._want(page)

    # Drawing

    def render_line(self, y: int) -> Strip:
        place, line = divmod(y + self.scroll_offset.y, self._lines)
        width = self._cells
        if place >= len(self):
            return Strip.blank(width, self.rich_style)
        page = self._page_of(place)
        rows = self._pages.get(page)
        if rows is None:
            self._want(page)
        row = rows[place - page * _PAGE] if rows is not None and place - page * _PAGE < len(rows) else Text("…", "dim")
        parts = row.split("\n", allow_blank=True)
        return self._drawn(parts[line] if line < len(parts) else Text(""), width, chosen=place == self.highlighted)

    def _drawn(self, text: Text, width: int, *, chosen: bool) -> Strip:
        style = self.rich_style + (self.get_component_rich_style("paged-list--chosen") if chosen else Style())
        bar = (
            Segment(_BAR, style + self.get_component_rich_style("paged-list--bar"))
            if chosen
            else Segment(_NO_BAR, style)
        )
        cut = text.copy()
        cut.no_wrap, cut.end = True, ""
        cut.truncate(max(0, width - len(_BAR)), overflow="ellipsis")
        drawn = Segment.apply_style(cut.render(self.app.console), style)
        return Strip([bar, *drawn]).adjust_cell_length(width, style).apply_offsets(0, 0)

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self) * self._lines)
        self._into_view()
        self.changed()

    # Reading

    def _want(self, page: int) -> None:
        if page not in self._reading and self._rows is not None:
            self._reading.add(page)
            self._read(self._rows, page)

    @work
    async def _read(self, rows: Rows, page: int) -> None:
        start = page * _PAGE
        try:
            width = max(1, self._cells - len(_BAR))
            found = await asyncio.to_thread(rows.page, start, min(start + _PAGE, len(rows)), width)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        if rows is self._rows:
            self._reading.discard(page)
            self._pages[page] = found
            self.refresh()

    # Walking

    def watch_highlighted(self) -> None:
        self._into_view()
        self.refresh()
        self._tell()

    def _tell(self) -> None:
        if self.is_attached:
            self.post_message(self.Highlighted(self, self.highlighted))

    def _into_view(self) -> None:
        if self.highlighted is not None and self.size.height:
            region = Region(0, self.highlighted * self._lines, max(1, self.size.width), self._lines)
            self.scroll_to_region(region, animate=False, force=True)

    def action_step(self, by: int) -> None:
        if self.highlighted is not None:
            self.highlighted = min(max(0, self.highlighted + by), len(self) - 1)

    def action_leaf(self, by: int) -> None:
        self.action_step(by * max(1, self.size.height // self._lines - 1))

    def action_end(self, last: bool) -> None:
        if self.highlighted is not None:
            self.highlighted = len(self) - 1 if last else 0

    def action_select(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.Selected(self, self.highlighted))

    def on_click(self, event: events.Click) -> None:
        place = (event.y + self.scroll_offset.y) // self._lines
        if place < len(self):
            if place == self.highlighted:
                self.action_select()
            self.highlighted = place

    @property
    def _cells(self) -> int:
        """Of a line, beside the scroll bar."""
        return self.scrollable_content_region.width

    def _page_of(self, place: int) -> int:
        return place // _PAGE
