"""Who is here: the members of the household, to switch between, and which of them are children or guests."""

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
    from memory.members import Member, Standing


class MembersScreen(ModalScreen[str | None]):
    """Gives the id of the member that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("m", "standing('child')", show=False),
        Binding("v", "standing('guest')", show=False),
    ]

    def __init__(self, catalogue: Catalogue, session: Session) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._session = session

    def compose(self) -> ComposeResult:
        text = self._catalogue.text
        with Vertical(classes="box"):
            yield Static(text("screen.members.title"), classes="title", markup=False)
            yield OptionList(*self._options(), markup=False)
            yield Static(id="standing", markup=False)
            keys = "screen.members.keys_of_admin" if self._session.member.admin else "screen.members.keys"
            yield Static(text(keys), classes="quiet", markup=False)

    def action_standing(self, standing: Standing) -> None:
        """Have what the chosen one shares wait for whoever administers, or no longer; for whoever administers alone."""
        listing = self.query_one(OptionList)
        option = listing.highlighted_option
        if option is None or option.id is None or not self._session.member.admin:
            return
        members = self._session.household.members
        chosen = members.get(option.id)
        if chosen.admin:
            told = self._catalogue.text("screen.members.administers", name=clean(chosen.name))
        else:
            chosen = members.set_standing(chosen.id, "trusted" if chosen.standing == standing else standing)
            told = self._catalogue.text(f"command.members.standing.{chosen.standing}", name=clean(chosen.name))
        place = listing.highlighted
        listing.set_options(self._options())
        listing.highlighted = place
        self.query_one("#standing", Static).update("\n" + told)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_cancel(self) -> None:
        self.dismiss(None)

    def _options(self) -> list[Option]:
        return [Option(self._row(member), id=member.id) for member in self._session.household.members.list()]

    def _row(self, member: Member) -> Text:
        row = Text(("● " if member.id == self._session.member.id else "  ") + clean(member.name))
        kind = "admin" if member.admin else member.standing
        if kind != "trusted":
            row.append(f" · {self._catalogue.text(f'screen.members.kinds.{kind}')}", "dim")
        return row
