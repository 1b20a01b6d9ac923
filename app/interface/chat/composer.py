"""Where a question is written."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from app.interface.fields import TextField


class Composer(TextField):
    """Enter sends, Ctrl+J begins another line; up in an empty composer takes the last question back to change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter,alt+enter", "newline", show=False),
    ]

    class Submitted(Message):
        """A question was sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class LastWanted(Message):
        """The last question is wanted back."""

    class UndoWanted(Message):
        """There is nothing to undo in the text: the undo is meant for the screen."""

    def __init__(self, placeholder: str, most_lines: int, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, placeholder=placeholder, compact=True, show_line_numbers=False)
        self.styles.max_height = most_lines

    def submit(self) -> None:
        """Send what is written, if anything is."""
        if self.text.strip():
            self.post_message(self.Submitted(self.text))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        if self.text:
            super().action_cursor_up(select)
        else:
            self.post_message(self.LastWanted())

    def action_undo(self) -> None:
        if self.text:
            super().action_undo()
        else:
            self.post_message(self.UndoWanted())

    async def _on_key(self, event: events.Key) -> None:
        # Not a binding with priority: that would overtake the letters typed before it, and send half a question.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.submit()
