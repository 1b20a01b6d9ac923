"""Four calm steps for whoever comes first: language, name, PIN, model. Enter takes what is offered, Esc all of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.bytes_text import size_text
from app.catalogue import LANGUAGES, Catalogue
from app.errors_text import explain
from app.first_start import ModelChoice, begin, models
from app.interface.fields import LineField
from app.new_secret import NewPin
from configs.errors import EnlaceError
from memory.errors import MemberNameWrong

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from app.session import Session

_log = logging.getLogger(__name__)
_STEPS: Final = ("language", "name", "pin", "model")


class FirstStart(ModalScreen[ModelChoice | None]):
    """Makes the first member. Gives the model that was chosen, or None where it is the one that is set up to answer."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "skip", show=False),
        Binding("shift+tab", "back", show=False, priority=True),
        Binding("enter", "read", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._catalogue: Catalogue = session.fallback_catalogue()
        self._step = 0
        self._models: list[ModelChoice] = []
        # Whoever comes first is a member by the step before.
        self._pin = NewPin(session, session.household.members.default)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="first"):
            yield Static(id="steps", classes="title", markup=False)
            yield Static(id="question", markup=False)
            yield OptionList(
                *(Option(Catalogue(each).text("screen.first.own_name"), id=each) for each in LANGUAGES),
                id="language",
                compact=True,
                markup=False,
            )
            yield LineField(self._session.household.members.usual_name(), id="name", compact=True)
            yield LineField(id="pin", compact=True, password=True)
            yield Static(id="code", markup=False)
            yield OptionList(id="model", compact=True, markup=False)
            yield Static(id="problem", markup=False)
            yield Static(id="hint", markup=False)
            yield Static(id="first-keys", classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.query_one("#language", OptionList).highlighted = LANGUAGES.index(self._catalogue.language)
        self._show()
        self._look()

    # The steps

    def _show(self) -> None:
        text, step = self._catalogue.text, _STEPS[self._step]
        part = f"pin.{self._pin.part}" if step == "pin" else step
        dots = " ".join("●" if number <= self._step else "○" for number in range(len(_STEPS)))
        self.query_one("#steps", Static).update(f"{text('screen.first.title')}  {dots}")
        self.query_one("#question", Static).update(Text(text(f"screen.first.{part}.question"), "bold"))
        hint = text(f"screen.first.{part}.hint", **self._pin.facts)
        self.query_one("#hint", Static).update(Text("\n" + hint, "dim"))
        self.query_one("#first-keys", Static).update(text(f"screen.first.keys.{part.replace('.', '_')}"))
        self.query_one("#code", Static).update(self._pin.code)
        self.query_one("#problem", Static).display = False
        entry = self.query_one("#pin", Input)
        entry.value, entry.disabled = "", False
        entry.placeholder = text("screen.first.pin.asked.none") if part == "pin.asked" else ""
        shown = "code" if step == "pin" and self._pin.code else step
        for each in (*_STEPS, "code"):
            self.query_one(f"#{each}").display = each == shown
        self.set_focus(None if shown == "code" else self.query_one(f"#{shown}"))

    @on(OptionList.OptionHighlighted, "#language")
    def _spoken(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None and event.option_id != self._catalogue.language:
            self._catalogue = Catalogue(event.option_id)
            self._show()
            self._list_models()

    @on(OptionList.OptionSelected, "#language")
    def _language_chosen(self) -> None:
        self._turn(1)

    @on(Input.Submitted, "#name")
    def _name_chosen(self, event: Input.Submitted) -> None:
        try:
            begin(self._session, event.value, self._catalogue.language)
        except EnlaceError as error:
            self._say(error)
        else:
            self._turn(1)

    @on(Input.Submitted, "#pin")
    def _pin_entered(self, event: Input.Submitted) -> None:
        if not event.value and self._pin.part == "asked":
            self._go_on()
            return
        # Nothing more is typed while it is hashed, which takes a third of a second on purpose.
        event.input.disabled = True
        self._take_pin(event.value)

    @work(exclusive=True, group="pin")
    async def _take_pin(self, typed: str) -> None:
        try:
            await asyncio.to_thread(self._pin.typed, typed)
        except EnlaceError as error:
            self._show()
            self._say(error)
        else:
            self._show()

    @property
    def _hashing(self) -> bool:
        """Whether a PIN is about to be set."""
        return self.query_one("#pin", Input).disabled

    def action_read(self) -> None:
        """The code was read: what follows is the model."""
        if _STEPS[self._step] == "pin" and self._pin.code:
            self._go_on()

    def _go_on(self) -> None:
        """To the model, where there are any to choose from."""
        self._turn(1) if self._models else self._end(None)

    @on(OptionList.OptionSelected, "#model")
    def _model_chosen(self, event: OptionList.OptionSelected) -> None:
        self._end(event.option_id)

    def _turn(self, by: int) -> None:
        self._step += by
        self._show()

    def action_back(self) -> None:
        if self._hashing:
            return
        if _STEPS[self._step] == "pin" and self._pin.again():
            self._show()
        elif self._step:
            self._turn(-1)

    def action_skip(self) -> None:
        """All that is left as it is offered, and a name that cannot be one as the system has it."""
        if self._hashing:
            # There will be a PIN, whose code nobody would have seen.
            return
        try:
            begin(self._session, self.query_one("#name", Input).value, self._catalogue.language)
        except MemberNameWrong:
            begin(self._session, self._session.household.members.default().name, self._catalogue.language)
        self._end(None)

    def _end(self, model: str | None) -> None:
        usual = self._session.settings.engine.model
        self.dismiss(next((each for each in self._models if each.name == model != usual), None))

    def _say(self, error: EnlaceError) -> None:
        problem = self.query_one("#problem", Static)
        problem.update(f"⚠ {explain(error, self._catalogue)}")
        problem.display = True

    # The models, looked for meanwhile

    @work
    async def _look(self) -> None:
        """See which models there are, and begin to start the engine: the first answer shall not wait for either."""
        try:
            self._models = await asyncio.to_thread(models, self._session, self._catalogue.language)
            self._list_models()
        except EnlaceError:
            _log.warning("no models to choose from", exc_info=True)
        with contextlib.suppress(EnlaceError):  # what is wrong is told when the house is opened
            await asyncio.to_thread(self._session.start_engine_early)

    def _list_models(self) -> None:
        listing = self.query_one("#model", OptionList)
        listing.set_options([Option(self._model_row(each), id=each.name) for each in self._models])
        if self._models:
            listing.highlighted = 0

    def _model_row(self, choice: ModelChoice) -> Text:
        text = self._catalogue.text
        row = Text(choice.title)
        size = size_text(self._catalogue, choice.bytes)
        parts = [text("screen.first.model.here") if choice.here else text("screen.first.model.download", size=size)]
        known = "_".join(each for each in LANGUAGES if each in choice.languages)
        if known:
            parts.append(text(f"screen.first.languages.{known}"))
        if choice.recommended:
            parts.append("★ " + text("screen.first.model.recommended"))
        return row.append("\n  " + " · ".join(parts), "dim")
