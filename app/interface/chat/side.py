"""The side list: search, the conversations by day, and what the next training will learn from."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.interface.excerpt import excerpt
from app.interface.fields import LineField
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue

_BAR_CELLS: Final = 10
# The list's own padding, its scroll bar and the rule beside it.
_EDGES: Final = 5


@dataclass(frozen=True)
class Listed:
    """A row of the list: a conversation, or a message found in one.

    ``detail`` is what was found; ``marks``: (start, end) of the words in it.
    """

    conversation_id: str
    title: str
    at: float
    message_id: str | None = None
    detail: str = ""
    marks: tuple[tuple[int, int], ...] = ()


class Conversations(OptionList):
    """The rows; Delete takes a conversation away (and can be undone)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "remove", show=False),
        Binding("ctrl+z", "undo_removal", show=False),
    ]

    def action_remove(self) -> None:
        option = self.highlighted_option
        if option is not None and option.id is not None:
            self.post_message(Side.DeleteWanted(option.id.split(" ")[0]))

    def action_undo_removal(self) -> None:
        self.post_message(Side.UndoWanted())


class Side(Vertical):
    """Everything left of the conversation."""

    class Chosen(Message):
        """A conversation, or a message in it, is to be shown."""

        def __init__(self, conversation_id: str, message_id: str | None) -> None:
            super().__init__()
            self.conversation_id = conversation_id
            self.message_id = message_id

    class Searched(Message):
        """The words searched for changed; empty shows all conversations."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Message):
        """The first of what the words are found in is to be shown."""

    class DeleteWanted(Message):
        """A conversation is to be taken away."""

        def __init__(self, conversation_id: str) -> None:
            super().__init__()
            self.conversation_id = conversation_id

    class UndoWanted(Message):
        """What was taken away is wanted back."""

    def __init__(self, catalogue: Catalogue, training_full: int, width: int, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._catalogue = catalogue
        self._training_full = training_full
        self._width = width
        self._current: str | None = None

    def compose(self) -> ComposeResult:
        yield LineField(placeholder=self._catalogue.text("screen.search_here"), id="search", compact=True)
        yield Conversations(id="conversations", compact=True, markup=False)
        yield Static(id="waiting", markup=False)

    def show(self, rows: Sequence[Listed], current: str | None, now: float) -> None:
        """List ``rows`` (the newest first) under the days they are from; ``current`` is the open conversation."""
        self._current = current
        listing = self.query_one(Conversations)
        options: list[Option] = []
        day = ""
        for row in rows:
            if (row_day := self._day(row.at, now)) != day:
                day = row_day
                if options:
                    options.append(Option("", disabled=True))
                options.append(Option(Text(self._catalogue.text(f"screen.days.{day}"), "bold dim"), disabled=True))
            options.append(Option(self._row(row), id=f"{row.conversation_id} {row.message_id or ''}"))
        if not rows and self.search_text:
            options.append(Option(Text(self._catalogue.text("screen.no_results"), "dim"), disabled=True))
        listing.set_options(options)
        for number, option in enumerate(options):
            if current and option.id is not None and option.id.startswith(f"{current} "):
                listing.highlighted = number
                break
        if listing.has_focus and listing.highlighted is None:
            # Somebody has gone on to it already.
            listing.action_first()

    def waiting(self, waiting: int, to_decide: int) -> None:
        """How many lessons no training has judged yet, of those at which one begins by itself.

        ``to_decide``: how many wait for the member to approve them.
        """
        # One lesson is already more than none.
        full = min(_BAR_CELLS, -(-waiting * _BAR_CELLS // self._training_full))
        bar = "▓" * full + "░" * (_BAR_CELLS - full)
        text = Text.assemble(
            (self._catalogue.text("screen.next_training"), "bold dim"),
            "\n",
            (bar, ""),
            f" {waiting} / {self._training_full}",
        )
        if to_decide:
            text.append("\n◌ " + self._catalogue.count("screen.to_decide", to_decide), "bold")
        self.query_one("#waiting", Static).update(text)

    def focus_search(self) -> None:
        self.query_one("#search", Input).focus()

    @property
    def search_text(self) -> str:
        return self.query_one("#search", Input).value

    @on(Input.Changed, "#search")
    def _search_changed(self, event: Input.Changed) -> None:
        self.post_message(self.Searched(event.value))

    @on(Input.Submitted, "#search")
    def _search_entered(self) -> None:
        """Enter opens the first of what is found; without words to search for, it goes to the list."""
        if self.search_text.strip():
            self.post_message(self.Entered())
        else:
            self._go_to_list()

    def open_first(self) -> None:
        """Go to the first row, and have it shown."""
        self._go_to_list().action_select()

    def key_down(self) -> None:
        if self.query_one("#search", Input).has_focus:
            self._go_to_list()

    def _go_to_list(self) -> Conversations:
        listing = self.query_one(Conversations)
        listing.focus()
        listing.action_first()
        return listing

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            conversation_id, _, message_id = event.option_id.partition(" ")
            self.post_message(self.Chosen(conversation_id, message_id or None))

    def _row(self, row: Listed) -> Text:
        # The open one carries a mark, not only a colour.
        mark = "▸ " if row.conversation_id == self._current and row.message_id is None else "  "
        title = clean(row.title).replace("\n", " ") or self._catalogue.text("screen.untitled")
        text = self._cut(mark + title)
        if row.detail:
            text.append("\n  ")
            text.append_text(excerpt(row.detail, row.marks, self._cells - 2, "dim"))
        return text

    def _cut(self, text: str, style: str = "") -> Text:
        """One row of the list at most."""
        row = Text(text, style)
        row.truncate(self._cells, overflow="ellipsis")
        return row

    @property
    def _cells(self) -> int:
        return (self.size.width or self._width) - _EDGES

    def _day(self, at: float, now: float) -> str:
        today = datetime.datetime.fromtimestamp(now).date()
        age = (today - datetime.datetime.fromtimestamp(at).date()).days
        if age <= 0:
            return "today"
        return "yesterday" if age == 1 else ("week" if age < 7 else "earlier")
