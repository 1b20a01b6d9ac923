"""A screen with several sides, each under a tab and a key of its own, and a quiet line in which all of them speak."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget
from textual.widgets import TabbedContent, TabPane, Tabs

from app.errors_text import explain
from app.interface.chat.bar import Bar
from app.interface.chat.notice import Notice
from app.interface.said import Said

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class SidesScreen(Screen[ScreenResultType]):
    """``TEXTS``: below which key its words are; ``INSIDE``: what of a side takes the keys when it is turned to."""

    app: EnlaceApp
    TEXTS: ClassVar[str]
    INSIDE: ClassVar[str]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("f1", "help", show=False),
        Binding("ctrl+z", "undo", show=False),
        Binding("down", "inside", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._undo: list[Callable[[], object]] = []

    def sides(self) -> Iterable[tuple[str, str, Widget]]:
        """Each side as the label of its key, its name and what it consists of; the first is the one shown first."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        text = self.app.catalogue.text
        yield Bar(text(f"{self.TEXTS}.title"), strong=True, id="header")
        with TabbedContent():
            for key, name, pane in self.sides():
                yield TabPane(f"{text(f'{self.TEXTS}.tabs.{name}')} {key}", pane, id=name)
        yield Notice(self.app.settings.undo_seconds, id="notice")
        yield Bar(text(f"{self.TEXTS}.keys"), text("screen.status.help"), id="status")

    def on_mount(self) -> None:
        self.query_one(Tabs).focus()

    def on_said(self, event: Said) -> None:
        """A side has something to say, or to take back."""
        if event.error is not None:
            self.query_one(Notice).say(str(explain(event.error, self.app.catalogue)), problem=True)
            return
        if event.undo is not None:
            self._undo.append(event.undo)
        undo_key = self.app.catalogue.text("screen.undo") if event.undo else ""
        self.query_one(Notice).say(event.sentence, undo=undo_key)

    def action_undo(self) -> None:
        text = self.app.catalogue.text
        if self._undo:
            self._undo.pop()()
            self.query_one(Notice).say(text("screen.undone"))
        else:
            self.query_one(Notice).say(text("screen.nothing_to_undo"))

    def action_tab(self, name: str) -> None:
        self.query_one(TabbedContent).active = name
        self.call_after_refresh(self.action_inside)

    def action_inside(self) -> None:
        """Give the keys to what the side that is shown consists of."""
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            wanted = next((each for each in pane.query(self.INSIDE) if each.focusable), None)
            if wanted is not None:
                wanted.focus()

    def action_help(self) -> None:
        self.app.show_help()

    def action_close(self) -> None:
        self.dismiss(None)
