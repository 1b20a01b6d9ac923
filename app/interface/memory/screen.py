"""The sides of memory, each in a tab of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import TabbedContent

from app.interface.memory.documents import DocumentsPane
from app.interface.memory.facts import FactsPane
from app.interface.memory.graph import GraphPane
from app.interface.memory.history import HistoryPane
from app.interface.memory.people import PeoplePane, Walked
from app.interface.memory.place import Place, Wanted
from app.interface.sides import SidesScreen


class MemoryScreen(SidesScreen[Place | None]):
    """Gives the place in the conversations that somebody wants to see, or None."""

    TEXTS = "screen.memory"
    INSIDE = "Input, PagedList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f12", "close", show=False),
        Binding("f2", "tab('facts')", show=False),
        Binding("f3", "tab('history')", show=False),
        Binding("f4", "tab('people')", show=False),
        Binding("f5", "tab('documents')", show=False),
        Binding("f6", "tab('graph')", show=False),
    ]

    def sides(self) -> Iterable[tuple[str, str, Widget]]:
        return (
            ("F2", "facts", FactsPane()),
            ("F3", "history", HistoryPane()),
            ("F4", "people", PeoplePane()),
            ("F5", "documents", DocumentsPane()),
            ("F6", "graph", GraphPane()),
        )

    def on_mount(self) -> None:
        self.call_after_refresh(self.action_inside)

    def on_walked(self, event: Walked) -> None:
        """Turn to the graph, and stand there."""
        self.query_one(TabbedContent).active = "graph"
        self.query_one(GraphPane).walk_to(event.node)

    def on_wanted(self, event: Wanted) -> None:
        self.dismiss(event.place)
