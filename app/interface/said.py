"""What a pane tells its screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from configs.errors import EnlaceError


class Said(Message):
    """A sentence for the quiet line, or an error to be put into words; ``undo`` takes back what it tells of."""

    def __init__(
        self, sentence: str = "", *, undo: Callable[[], object] | None = None, error: EnlaceError | None = None
    ) -> None:
        super().__init__()
        self.sentence = sentence
        self.undo = undo
        self.error = error
