"""What an answer was reminded of: read where it comes from, go there, put it right, or forget it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.errors_text import explain
from app.interface.fields import LineField
from app.interface.times import day_and_time
from app.recalled_sources import RecalledSource, correct, forget
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session


class SourcesDialog(ModalScreen[str | None]):
    """Gives the message that somebody wants to see, by id, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("e", "edit", show=False),
        Binding("delete,d", "forget", show=False),
    ]

    def __init__(self, catalogue: Catalogue, session: Session, sources: Callable[[], list[RecalledSource]]) -> None:
        """``sources``: what the answer rests on, read again after every change."""
        super().__init__()
        self._catalogue = catalogue
        self._session = session
        self._read = sources
        self._sources = sources()

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._catalogue.text("screen.recalled.title"), classes="title", markup=False)
            yield OptionList(*self._options(), markup=False)
            yield Static(id="told", markup=False)
            yield LineField(compact=True, id="other_words", disabled=True)
            yield Static(self._catalogue.text("screen.recalled.keys"), classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.query_one("#other_words").display = False
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _go(self) -> None:
        source = self._chosen()
        if source is not None and source.message is not None:
            self.dismiss(source.message)
        else:
            self._tell(self._catalogue.text("screen.recalled.no_place"))

    def action_edit(self) -> None:
        source, entry = self._chosen(), self.query_one(Input)
        if source is not None:
            entry.value = source.text
            entry.display, entry.disabled = True, False
            entry.focus()

    @on(Input.Submitted)
    def _edited(self, event: Input.Submitted) -> None:
        source = self._chosen()
        if source is not None:
            self._do(lambda: correct(self._session, source, event.value), "screen.recalled.corrected")

    def action_forget(self) -> None:
        source = self._chosen()
        if source is None:
            return
        if not source.own:
            self._tell(self._catalogue.text("screen.recalled.of_another", name=clean(source.said_by)))
            return
        self._do(lambda: forget(self._session, source), "screen.recalled.forgotten")

    def action_leave(self) -> None:
        entry = self.query_one(Input)
        if entry.disabled:
            self.dismiss(None)
        else:
            self._put_away(entry)

    def _do(self, change: Callable[[], None], told: str) -> None:
        try:
            change()
        except EnlaceError as error:
            self._tell(str(explain(error, self._catalogue)))
            return
        self._put_away(self.query_one(Input))
        self._sources = self._read()
        listing = self.query_one(OptionList)
        place = listing.highlighted
        listing.clear_options()
        listing.add_options(self._options())
        listing.highlighted = min(place or 0, len(self._sources) - 1) if self._sources else None
        self._tell(self._catalogue.text(told))

    def _put_away(self, entry: Input) -> None:
        entry.display, entry.disabled = False, True
        self.query_one(OptionList).focus()

    def _tell(self, sentence: str) -> None:
        self.query_one("#told", Static).update(sentence)

    def _chosen(self) -> RecalledSource | None:
        place = self.query_one(OptionList).highlighted
        return self._sources[place] if place is not None and place < len(self._sources) else None

    def _options(self) -> Iterable[Option]:
        for source in self._sources:
            when = day_and_time(source.said_at)
            said = self._catalogue.text("screen.recalled.said", name=clean(source.said_by), when=when)
            rows = [clean(source.text), said]
            if source.question:
                rows.append(self._catalogue.text("screen.recalled.to", question=clean(source.question)))
            if source.title:
                rows.append(self._catalogue.text("screen.recalled.in", title=clean(source.title)))
            yield Option("\n  ".join(rows))
