"""A sentence that has to be read before anything goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from app.catalogue import Catalogue


class ErrorDialog(ModalScreen[None]):
    """What happened, and what to do next."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,escape,space", "close", show=False)]

    def __init__(self, catalogue: Catalogue, what: str, following: str) -> None:
        super().__init__()
        self._catalogue = catalogue
        self.what = what
        self.following = following

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(f"⚠ {self._catalogue.text('screen.dialog.oops')}", classes="title", markup=False)
            yield Static(self.what, markup=False)
            yield Static(self.following, markup=False)
            yield Static(self._catalogue.text("screen.dialog.close"), classes="quiet", markup=False)

    def action_close(self) -> None:
        self.dismiss(None)
