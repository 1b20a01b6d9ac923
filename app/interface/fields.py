"""Where people write over what stood there: anybody's words, made harmless as all that is drawn."""

from __future__ import annotations

from textual import events
from textual.widgets import Input, TextArea

from app.terminal_text import clean


class LineField(Input):
    """One line. What is hidden stays as it is typed: dots are drawn for it."""

    def validate_value(self, value: str) -> str:
        return value if self.password else clean(value).replace("\n", " ")


class TextField(TextArea):
    """Several lines."""

    def load_text(self, text: str) -> None:
        super().load_text(clean(text))

    async def _on_paste(self, event: events.Paste) -> None:
        # Textual goes on to the text area's own handler, which then inserts what is left.
        event.text = clean(event.text)
