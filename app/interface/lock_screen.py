"""What is seen while the interface is locked: whose it is, and where they type what they come in by."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input, Static

from app.interface import themes
from app.interface.fields import LineField
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from memory.entrance import Secret
    from memory.members import Member


class LockScreen(Screen[None]):
    """Covers everything: nothing of what lies under it is drawn, nor reached by a key."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+o", "others", show=False, priority=True)]

    def __init__(self, member: Member, secret: Secret) -> None:
        super().__init__()
        self._member = member
        self._secret = secret

    def compose(self) -> ComposeResult:
        text, name = self.app.catalogue.text, clean(self._member.name)
        colour = themes.of_member(self._member.colour, self.app.theme_choice)
        with Vertical(classes="box"):
            yield Static(text("screen.lock.title"), classes="title", markup=False)
            yield Static(Text.assemble(("● ", colour), text(f"command.members.ask.{self._secret}", name=name)))
            yield LineField(password=True, compact=True, id="secret")
            yield Static(id="problem", markup=False)
            yield Static(Text("\n" + text("screen.lock.hint"), "dim"))
            yield Static(text("screen.lock.keys"), classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.query_one("#problem").display = False

    def say(self, sentence: str) -> None:
        """Say what was wrong with what was typed, which is asked for again."""
        problem, entry = self.query_one("#problem", Static), self.query_one(Input)
        problem.update(f"⚠ {sentence}")
        problem.display = True
        entry.value, entry.disabled = "", False
        entry.focus()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        if event.value:
            event.input.disabled = True
            self.app.locking.try_secret(event.value)

    def action_others(self) -> None:
        """Somebody else wants to sit down."""
        if not self.query_one(Input).disabled:
            self.app.choose_member()
