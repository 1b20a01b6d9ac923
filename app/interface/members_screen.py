"""Who is here: the members of the household, to switch between."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session


class MembersScreen(ModalScreen[str | None]):
    """Gives the id of the member that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    def __init__(self, catalogue: Catalogue, session: Session) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._session = session

    def compose(self) -> ComposeResult:
        here = self._session.member.id
        options = [
            Option(Text(("● " if member.id == here else "  ") + clean(member.name)), id=member.id)
            for member in self._session.household.members.list()
        ]
        with Vertical(classes="box"):
            yield Static(self._catalogue.text("screen.members.title"), classes="title", markup=False)
            yield OptionList(*options, markup=False)
            yield Static(self._catalogue.text("screen.members.keys"), classes="quiet", markup=False)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_cancel(self) -> None:
        self.dismiss(None)
