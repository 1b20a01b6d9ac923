"""One line that somebody is asked for: a PIN or a passphrase, which is not shown, or a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from app.interface.fields import LineField

if TYPE_CHECKING:
    from app.catalogue import Catalogue


class EntryDialog(ModalScreen[str | None]):
    """Gives what was typed, or None where nobody wanted to say."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    def __init__(
        self,
        catalogue: Catalogue,
        title: str,
        *,
        hint: str = "",
        value: str = "",
        hidden: bool = False,
        problem: str = "",
    ) -> None:
        """``hidden``: dots are shown for what is typed; ``problem``: what was wrong with what was typed before."""
        super().__init__()
        self._catalogue = catalogue
        self._title = title
        self._hint = hint
        self._value = value
        self._hidden = hidden
        self._problem = problem

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._title, classes="title", markup=False)
            if self._problem:
                yield Static(f"⚠ {self._problem}", id="problem", markup=False)
            yield LineField(self._value, password=self._hidden, compact=True, id="entry")
            hint = self._hint or self._catalogue.text("screen.entry.keys")
            yield Static(hint, classes="quiet", markup=False)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
