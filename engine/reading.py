"""The way of an answer from the text that the model writes to what a client is told: thoughts, text and tool calls."""

from __future__ import annotations

from engine.answer_form import AnswerForm
from engine.answers import Delta, Piece
from engine.callforms import Offered
from engine.reasoning import ReasoningReader
from engine.toolcalls import CallReader


class AnswerReader:
    """Reads one answer, given in pieces of any size. ``offered``: the tools of the request, None where it had none."""

    def __init__(self, form: AnswerForm, offered: Offered | None, most_calls: int) -> None:
        self._reasoning = ReasoningReader(form.tags, form.opened)
        self._calls = CallReader(offered, most_calls) if offered else None

    @property
    def called(self) -> bool:
        """Whether the model called a tool."""
        return self._calls is not None and self._calls.called

    @property
    def ended(self) -> bool:
        """Whether nothing good can follow, so that the answer may as well end here."""
        return self._calls is not None and self._calls.ended

    def feed(self, text: str) -> list[Piece]:
        """What became certain with ``text``."""
        return self._with_calls(self._reasoning.feed(text))

    def finish(self) -> list[Piece]:
        """What was still held when the answer ended."""
        pieces = self._with_calls(self._reasoning.finish())
        return [*pieces, *self._calls.finish()] if self._calls else pieces

    def _with_calls(self, pieces: list[Piece]) -> list[Piece]:
        if self._calls is None:
            return pieces
        found: list[Piece] = []
        for piece in pieces:
            found += self._calls.feed(piece.text) if isinstance(piece, Delta) else [piece]
        return found
