"""A row with something at its left end and something at its right end."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

SEPARATOR: Final = " · "


class Bar(Widget):
    """One row of plain text; what is on the right stays whole, on the left the last parts go first."""

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
        self._colour = ""

    def say(self, left: str | None = None, right: str | None = None, *, colour: str | None = None) -> None:
        """Change either end; text is clean already. ``colour``: of the first sign on the right, as ``#rrggbb``."""
        before = (self._left, self._right, self._colour)
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        self._colour = self._colour if colour is None else colour
        if (self._left, self._right, self._colour) != before:
            self.refresh()

    @property
    def text(self) -> str:
        """Both ends, as a person reads them."""
        return f"{self._left}  {self._right}".strip()

    def render(self) -> Text:
        width = self.content_size.width
        right_width = cell_len(self._right)
        left = Text(
            fitting(self._left, width - right_width - 1), style="bold" if self._strong else "", no_wrap=True, end=""
        )
        gap = max(0, width - left.cell_len - right_width)
        right = Text(self._right)
        right.stylize(self._colour, 0, 1)
        return Text.assemble(left, " " * gap, right, no_wrap=True, overflow="crop")

    def on_click(self, event: events.Click) -> None:
        if event.x >= self.size.width - cell_len(self._right) - 1:
            self.post_message(self.RightClicked(self))


def fitting(text: str, width: int) -> str:
    """As many of the parts that ``SEPARATOR`` joins as fit in ``width`` cells, whole; at least the first, cut."""
    parts = text.split(SEPARATOR)
    while len(parts) > 1 and cell_len(SEPARATOR.join(parts)) > width:
        parts.pop()
    return set_cell_size(parts[0], max(0, width)).rstrip() if len(parts) == 1 else SEPARATOR.join(parts)
