"""Who is here: the members of the household, to switch between, and what each may change of themselves.

Whoever administers says who is a child or a guest; a guest for the evening comes in here too.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.errors_text import explain
from app.interface import themes
from app.interface.entry_dialog import EntryDialog
from app.new_secret import NewPin
from app.standing import administers, is_adult
from app.terminal_text import clean
from configs.errors import EnlaceError
from memory.members import COLOURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.catalogue import Catalogue
    from app.session import Session
    from memory.members import Member, Standing


class MembersScreen(ModalScreen[str | None]):
    """Gives the id of the member that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("c", "colour", show=False),
        Binding("h", "voice", show=False),
        Binding("p", "pin", show=False),
        Binding("n", "guest", show=False),
        Binding("m", "standing('child')", show=False),
        Binding("v", "standing('guest')", show=False),
    ]

    def __init__(self, catalogue: Catalogue, session: Session, theme: str, *, inside: bool) -> None:
        """``theme``: ``dark`` or ``light``; ``inside``: whoever sits here has proven who they are."""
        super().__init__()
        self._catalogue = catalogue
        self._session = session
        self._theme = theme
        self._inside = inside
        self._administers = self._inside and administers(session)
        self._hashing = False

    def compose(self) -> ComposeResult:
        text = self._catalogue.text
        with Vertical(classes="box"):
            yield Static(text("screen.members.title"), classes="title", markup=False)
            yield OptionList(*self._options(), markup=False)
            yield Static(id="about", markup=False)
            yield Static(self._keys(own=False), id="keys", classes="quiet", markup=False)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self.query_one("#keys", Static).update(self._keys(own=self._own() is not None))

    # What they change of themselves

    def action_colour(self) -> None:
        """The next colour beside the name."""
        chosen = self._own()
        if chosen is not None:
            after = COLOURS[(COLOURS.index(chosen.colour) + 1) % len(COLOURS)]
            self._session.household.members.set_colour(chosen.id, after)
            self._say("screen.members.colour", colour=self._catalogue.text(f"command.members.colours.{after}"))

    def action_voice(self) -> None:
        """How the assistant speaks to them."""
        if self._own() is None:
            return
        voice = self._session.memory.voice

        def given(manner: str | None) -> None:
            if manner is not None:
                said = voice.set(manner)
                self._say(f"command.members.{'speaks' if said else 'speaks_as_ever'}", voice=clean(said))

        text = self._catalogue.text
        hint = text("screen.members.voice_keys")
        self._ask(EntryDialog(self._catalogue, text("screen.members.voice"), value=voice.get(), hint=hint), given)

    def action_pin(self) -> None:
        """Another PIN for them, or none; typed twice."""
        chosen = self._own()
        if chosen is None:
            return
        name, doors, text = clean(chosen.name), self._session.household.doors, self._catalogue.text
        has = doors.secret_of(chosen.id) == "pin"
        new = NewPin(self._session, lambda: chosen)

        def first(pin: str | None) -> None:
            if not pin and pin is not None and has:
                doors.remove_pin(chosen)
                self._say("command.members.open", name=name)
            elif pin is not None:
                self._take_pin(new, pin)

        hint = text("screen.members.pin_keys" if has else "screen.entry.keys")
        title = text("command.members.ask.new_pin", name=name)
        self._ask(EntryDialog(self._catalogue, title, hidden=True, hint=hint), first)

    @work(exclusive=True, group="pin")
    async def _take_pin(self, new: NewPin, pin: str) -> None:
        """Hash it in a thread: nobody's answer stands still meanwhile."""
        self._hashing = True
        try:
            await asyncio.to_thread(new.typed, pin)
        except EnlaceError as error:
            self._tell(str(explain(error, self._catalogue)))
            return
        finally:
            self._hashing = False
        if new.part == "code":
            self._say("screen.members.pin_set", code=new.code)
            return

        def second(again: str | None) -> None:
            if again is not None:
                self._take_pin(new, again)

        self._ask(EntryDialog(self._catalogue, self._catalogue.text("command.members.ask.again"), hidden=True), second)

    # What is for adults, and for whoever administers

    def action_guest(self) -> None:
        """Somebody is here for the evening: a profile of theirs, so that nothing they say is filed on another."""
        if not self._inside or not is_adult(self._session):
            return
        text = self._catalogue.text

        def given(name: str | None) -> None:
            if name is not None:
                guest = self._session.household.members.add(name, "", standing="guest")
                self.dismiss(guest.id)

        dialog = EntryDialog(self._catalogue, text("screen.members.guest"), hint=text("screen.members.guest_keys"))
        self._ask(dialog, given)

    def action_standing(self, standing: Standing) -> None:
        """Have what the chosen one shares wait for whoever administers, or no longer; for whoever administers alone."""
        chosen = self._highlit()
        if chosen is None or not self._administers:
            return
        if chosen.admin:
            self._say("screen.members.administers", name=clean(chosen.name))
        else:
            wanted: Standing = "trusted" if chosen.standing == standing else standing
            self._session.household.members.set_standing(chosen.id, wanted)
            self._say(f"command.members.standing.{wanted}", name=clean(chosen.name))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._leave(event.option_id)

    def action_cancel(self) -> None:
        self._leave(None)

    def _leave(self, chosen: str | None) -> None:
        # There will be a PIN, whose code nobody would have seen.
        if not self._hashing:
            self.dismiss(chosen)

    def _highlit(self) -> Member | None:
        option = self.query_one(OptionList).highlighted_option
        return None if option is None or option.id is None else self._session.household.members.get(option.id)

    def _own(self) -> Member | None:
        """The highlighted one where it is whoever sits here: nobody changes another's."""
        found = self._highlit()
        return found if found is not None and self._inside and found.id == self._session.member.id else None

    def _ask(self, dialog: EntryDialog, given: Callable[[str | None], None]) -> None:
        def told(entry: str | None) -> None:
            try:
                given(entry)
            except EnlaceError as error:
                self._tell(str(explain(error, self._catalogue)))

        self.app.push_screen(dialog, told)

    def _say(self, key: str, **facts: object) -> None:
        self._tell(self._catalogue.text(key, **facts))

    def _tell(self, sentence: str) -> None:
        """Say it under the list, which shows what there is now."""
        listing = self.query_one(OptionList)
        place = listing.highlighted
        listing.set_options(self._options())
        listing.highlighted = place
        self.query_one("#about", Static).update("\n" + sentence)

    def _keys(self, *, own: bool) -> str:
        """The keys that do something for whoever is highlighted; ``own``: it is who sits here."""
        found = ["own"] if own else []
        if self._administers:
            found.append("admin")
        elif self._inside and is_adult(self._session):
            found.append("adult")
        return " · ".join(self._catalogue.text(f"screen.members.keys.{each}") for each in ("enter", *found, "back"))

    def _options(self) -> list[Option]:
        everybody = self._session.household.members.list()
        return [Option(self._row(member), id=member.id) for member in everybody]

    def _row(self, member: Member) -> Text:
        text, here = self._catalogue.text, self._inside and member.id == self._session.whoever.id
        row = Text.assemble(
            ("▸ " if here else "  "), ("● ", themes.of_member(member.colour, self._theme)), clean(member.name)
        )
        kind = "admin" if member.admin else member.standing
        told = [] if kind == "trusted" else [text(f"screen.members.kinds.{kind}")]
        told.append(text(f"command.members.entrance.{self._session.household.doors.secret_of(member.id) or 'open'}"))
        row.append("".join(f" · {each}" for each in told), "dim")
        return row
