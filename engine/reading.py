"""The way of an answer from the text that the model writes to what a client is told: thoughts, text and tool calls."""

from __future__ import annotations

from dataclasses import replace

from engine.answer_form import AnswerForm
from engine.answers import Delta, Piece, TokenLogprob
from engine.callforms import Offered
from engine.reasoning import ReasoningReader
from engine.toolcalls import CallReader


class AnswerReader:
    """Reads one answer, given in pieces of any size. ``offered``: the tools of the request, None where it had none."""

    def __init__(self, form: AnswerForm, offered: Offered | None, most_calls: int) -> None:
        self._reasoning = ReasoningReader(form.tags, form.opened)
        self._calls = CallReader(offered, most_calls) if offered else None
        self._logprobs: tuple[TokenLogprob, ...] = ()

    @property
    def called(self) -> bool:
        """Whether the model called a tool."""
        return self._calls is not None and self._calls.called

    @property
    def ended(self) -> bool:
        """Whether nothing good can follow, so that the answer may as well end here."""
        return self._calls is not None and self._calls.ended

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        """What became certain with ``text``; ``logprobs``, what its tokens are worth, go with the answer's text."""
        self._logprobs += logprobs
        return self._with_logprobs(self._with_calls(self._reasoning.feed(text)))

    def finish(self) -> list[Piece]:
        """What was still held when the answer ended."""
        pieces = self._with_calls(self._reasoning.finish())
        if self._calls:
            pieces += self._calls.finish()
        if self._logprobs and not any(isinstance(piece, Delta) for piece in pieces):
            pieces.append(Delta(""))
        return self._with_logprobs(pieces)

    def _with_logprobs(self, pieces: list[Piece]) -> list[Piece]:
        """The first text takes them along; what thoughts and calls were worth is not told."""
        if not self._logprobs or not pieces:
            return pieces
        logprobs, self._logprobs = self._logprobs, ()
        for place, piece in enumerate(pieces):
            if isinstance(piece, Delta):
                return [*pieces[:place], replace(piece, logprobs=logprobs), *pieces[place + 1 :]]
        return pieces

    def _with_calls(self, pieces: list[Piece]) -> list[Piece]:
        if self._calls is None:
            return pieces
        found: list[Piece] = []
        for piece in pieces:
            found += self._calls.feed(piece.text) if isinstance(piece, Delta) else [piece]
        return found
