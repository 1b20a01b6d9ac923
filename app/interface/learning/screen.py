"""The sides of learning: what was corrected, how it is trained, which weights answer, what somebody has to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TabbedContent, TabPane, Tabs

from app.errors_text import explain
from app.interface.chat.bar import Bar
from app.interface.chat.notice import Notice
from app.interface.learning.deciding import DecidePane
from app.interface.learning.lessons import LessonsPane
from app.interface.learning.messages import Said
from app.interface.learning.snapshots import SnapshotsPane
from app.interface.learning.training import TrainingPane

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.interface.app import EnlaceApp


class LearningScreen(Screen[None]):
    """Lessons, trainings, snapshots and decisions, each in a tab of its own."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f9", "close", show=False),
        Binding("f1", "help", show=False),
        Binding("ctrl+z", "undo", show=False),
        Binding("down", "inside", show=False),
        Binding("f2", "tab('lessons')", show=False),
        Binding("f3", "tab('training')", show=False),
        Binding("f4", "tab('snapshots')", show=False),
        Binding("f5", "tab('decide')", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._undo: list[Callable[[], object]] = []

    def compose(self) -> ComposeResult:
        text = self.app.catalogue.text
        yield Bar(text("screen.learning.title"), strong=True, id="header")
        with TabbedContent(initial="lessons"):
            for key, name, pane in (
                ("F2", "lessons", LessonsPane()),
                ("F3", "training", TrainingPane()),
                ("F4", "snapshots", SnapshotsPane()),
                ("F5", "decide", DecidePane()),
            ):
                yield TabPane(f"{text(f'screen.learning.tabs.{name}')} {key}", pane, id=name)
        yield Notice(self.app.settings.undo_seconds, id="notice")
        yield Bar(text("screen.learning.keys"), text("screen.status.help"), id="status")

    def on_mount(self) -> None:
        self.query_one(Tabs).focus()

    def on_said(self, event: Said) -> None:
        """A pane has something to say, or to take back."""
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
            wanted = pane.query("LessonList, #run-buttons Button, SnapshotList, DecideList")
            next(each for each in wanted if each.focusable).focus()

    def action_help(self) -> None:
        self.app.show_help()

    def action_close(self) -> None:
        self.dismiss(None)
