"""An answer that ends where whoever asked says that it has said enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.answers import Delta, Finished, Piece, Waiting

# Of the answer as far as it is written, how many characters are the whole of it; None while it has to go on.
Until = Callable[[str], int | None]


class Ending:
    """Follows one answer. ``reached``: it has said enough, and nothing that is written after that belongs to it."""

    def __init__(self, until: Until | None) -> None:
        self._until = until
        self._said = ""
        self.reached = False

    def kept(self, piece: Waiting | Piece | Finished) -> Waiting | Piece | Finished | None:
        """``piece`` as it belongs to the answer, None where it does not."""
        if self._until is None:
            return piece
        if self.reached:
            # Whoever wrote it was told to end, which is not why the answer has an end.
            return replace(piece, reason="stop") if isinstance(piece, Finished) else None
        if not isinstance(piece, Delta):
            return piece
        before = len(self._said)
        self._said += piece.text
        end = self._until(self._said)
        if end is None:
            return piece
        self.reached = True
        return replace(piece, text=self._said[before:end])
