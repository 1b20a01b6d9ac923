"""What the sides of memory have in common: words to search for, what is found, and the chosen one in full."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from app.interface.excerpt import first_marked_row
from app.interface.fields import LineField
from app.interface.paged_list import PagedList, Rows
from app.interface.said import Said
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class SearchedPane(Vertical):
    """``NAME``: its texts are below ``screen.memory.NAME``; ``LINES``: of each row.

    ``find`` and ``detail`` are called in threads, so that no key waits for what they read.
    """

    app: EnlaceApp
    NAME: ClassVar[str]
    LINES: ClassVar[int] = 1

    def __init__(self) -> None:
        super().__init__()
        self.rows: Rows | None = None

    def find(self, words: str) -> Rows:
        """What there is for the words that are searched for; for none, everything. Raises EnlaceError."""
        raise NotImplementedError

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        """All about one of the rows, clean, for ``width`` cells. Raises EnlaceError."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield LineField(placeholder=self.words("search"), compact=True)
        with Horizontal(classes="list-and-detail"):
            yield self.listing_widget()
            with VerticalScroll(classes="detail"):
                yield Static(markup=False)
        yield Static(self.words("keys"), classes="quiet keys", markup=False)

    def listing_widget(self) -> PagedList:
        """The list, with the keys of this side."""
        return PagedList(lines=self.LINES)

    def on_show(self) -> None:
        self.search_again()

    # What a side may use

    def words(self, key: str, **facts: object) -> str:
        """A text of this side."""
        return self.app.catalogue.text(f"screen.memory.{self.NAME}.{key}", **facts)

    @property
    def listing(self) -> PagedList:
        return self.query_one(PagedList)

    @property
    def searching(self) -> Input:
        """Where the words are written."""
        return self.query_one(Input)

    @property
    def searched(self) -> str:
        """The words searched for."""
        return self.searching.value.strip()

    def search_again(self) -> None:
        """Find anew, at once; the place in the list is kept."""
        self._search(0)

    def say(self, sentence: str) -> None:
        """Say something in the quiet line."""
        self.post_message(Said(sentence))

    # Searching

    @on(Input.Changed)
    def _typed(self) -> None:
        self._search(self.app.settings.search_seconds)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.listing.focus()

    def key_down(self) -> None:
        if self.query_one(Input).has_focus:
            self.listing.focus()

    @work(exclusive=True, group="search")
    async def _search(self, after: float) -> None:
        """Find what there is, unless another key is pressed within ``after`` seconds."""
        await asyncio.sleep(after)
        words = self.searched
        try:
            rows = await asyncio.to_thread(self.find, words)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        self.rows = rows
        self.listing.show(rows, self.listing.highlighted if not after else 0)
        if not len(rows):
            self._show(Text(self.words("none_found" if words else "empty"), "dim"))

    @on(PagedList.Highlighted)
    def _turned_to(self, event: PagedList.Highlighted) -> None:
        if event.place is not None and self.rows is not None:
            self._tell(self.rows, event.place)

    @work(exclusive=True, group="detail")
    async def _tell(self, rows: Rows, place: int) -> None:
        try:
            told = await asyncio.to_thread(self.detail, rows, place, self._width)
        except EnlaceError as error:
            told = Text()
            self.post_message(Said(error=error))
        if rows is self.rows:
            self._show(told)

    def _show(self, told: Text) -> None:
        self.query_one(".detail Static", Static).update(told)
        row = first_marked_row(told, self._width)
        self.query_one(".detail", VerticalScroll).scroll_to(y=max(0, row - 2), animate=False)

    @property
    def _width(self) -> int:
        return max(1, self.query_one(".detail").size.width - 4)
