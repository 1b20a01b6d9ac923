"""Help: what Enlace is for, in three sentences, and every key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from app.interface.actions import ACTIONS

if TYPE_CHECKING:
    from app.catalogue import Catalogue

_KEY_CELLS = 10


class HelpScreen(ModalScreen[None]):
    """Closes with Esc or F1."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter", "close", show=False)]

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue

    def compose(self) -> ComposeResult:
        text = self._catalogue.text
        keys = Text()
        for action in ACTIONS:
            if action.label:
                keys.append(f"{action.label:<{_KEY_CELLS}}", "bold")
                keys.append(text(f"screen.action.{action.name}") + "\n")
        with Vertical(classes="box tall"):
            yield Static(text("screen.help.title"), classes="title", markup=False)
            with VerticalScroll():
                yield Static(text("screen.help.intro") + "\n", markup=False)
                yield Static(Text(text("screen.help.keys"), "bold"))
                yield Static(keys)
                yield Static(Text(text("screen.help.writing"), "bold"))
                yield Static(text("screen.help.writing_keys"), markup=False)
            yield Static(text("screen.help.close"), classes="quiet", markup=False)

    def action_close(self) -> None:
        self.dismiss(None)
