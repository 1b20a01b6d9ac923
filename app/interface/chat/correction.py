"""An answer made editable in its own place."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from app.interface.fields import TextField

if TYPE_CHECKING:
    from app.catalogue import Catalogue


class CorrectionText(TextField):
    """The answer's text while it is corrected."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority, which would overtake the letters typed before it and save half a correction.
        Binding("ctrl+s", "save", show=False),
        Binding("escape", "cancel", show=False, priority=True),
        Binding("ctrl+t", "change_visibility", show=False, priority=True),
    ]

    class Done(Message):
        """The correction was saved (``text``) or given up (None)."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    class VisibilityChanged(Message):
        """Who will learn it is to be changed."""

    def action_save(self) -> None:
        self.post_message(self.Done(self.text))

    def action_cancel(self) -> None:
        self.post_message(self.Done(None))

    def action_change_visibility(self) -> None:
        self.post_message(self.VisibilityChanged())


class Correction(Vertical):
    """The editor over the answer, with a row that says who will learn it and which keys end it."""

    def __init__(self, catalogue: Catalogue, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._catalogue = catalogue
        self.shared = True
        self._waits = False

    def compose(self) -> ComposeResult:
        yield CorrectionText(compact=True, show_line_numbers=False, soft_wrap=True)
        yield Static(id="who-learns", markup=False)

    def open(self, text: str, *, shared: bool, waits: bool) -> None:
        """Show ``text`` for editing. ``waits``: what this member shares is trained once it is approved."""
        area = self.query_one(CorrectionText)
        area.load_text(text)
        area.move_cursor(area.document.end)
        self.shared, self._waits = shared, waits
        self._say_who()
        self.display = True
        area.focus()

    def on_correction_text_visibility_changed(self) -> None:
        self.shared = not self.shared
        self._say_who()

    def _say_who(self) -> None:
        now, other = ("shared", "make_private") if self.shared else ("private", "make_shared")
        now = "shared_waiting" if self.shared and self._waits else now
        parts = (f"screen.correct.{now}", f"screen.correct.{other}", "screen.correct.keys")
        self.query_one("#who-learns", Static).update(" · ".join(self._catalogue.text(part) for part in parts))
