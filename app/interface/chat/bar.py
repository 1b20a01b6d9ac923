"""A row with something at its left end and something at its right end."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget


class Bar(Widget):
    """One row of plain text; what is on the right stays whole, what is on the left is cut where it does not fit."""

    DEFAULT_CSS = "Bar { height: 1; padding: 0 1; }"

    class RightClicked(Message):
        """Somebody clicked what is on the right."""

        def __init__(self, bar: Bar) -> None:
            super().__init__()
            self.bar = bar

        @property
        def control(self) -> Bar:
            return self.bar

    def __init__(self, left: str = "", right: str = "", *, strong: bool = False, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._left = left
        self._right = right
        self._strong = strong

    def say(self, left: str | None = None, right: str | None = None) -> None:
        """Change either end; text is clean already."""
        before = (self._left, self._right)
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        if (self._left, self._right) != before:
            self.refresh()

    @property
    def text(self) -> str:
        """Both ends, as a person reads them."""
        return f"{self._left}  {self._right}".strip()

    def render(self) -> Text:
        width = self.content_size.width
        right_width = cell_len(self._right)
        left = Text(self._left, style="bold" if self._strong else "", no_wrap=True, end="")
        left.truncate(max(0, width - right_width - (1 if self._right else 0)), overflow="ellipsis")
        gap = max(0, width - left.cell_len - right_width)
        return Text.assemble(left, " " * gap, self._right, no_wrap=True, overflow="crop")

    def on_click(self, event: events.Click) -> None:
        if event.x >= self.size.width - cell_len(self._right) - 1:
            self.post_message(self.RightClicked(self))
