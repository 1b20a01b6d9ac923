"""Finding the tool calls in what a model writes, while it is being written."""

from __future__ import annotations

import json

from engine.answers import Called, Delta, Piece
from engine.callforms import HERMES, MISTRAL, PYTHON, Offered, begins_bare, read_block
from engine.messages import ToolCall
from engine.text import doubtful

OPENINGS = (HERMES, PYTHON, MISTRAL)
CLOSERS = frozenset("}]>`")
# A block that goes on is looked through anew when it may have ended; when it is long, only now and then, so that the
# work stays in proportion: characters from which on it is short and long, and the share by which a long one must grow.
SHORT, LONG, GROWTH = 64, 1024, 8
BETWEEN = " \t\r\n;"  # what models write between two calls


class CallReader:
    """Splits one answer, given in pieces of any size, into text and calls of the tools that were offered.

    ``ended`` is set once nothing good can follow: ``most`` calls were made, or one was made a second time, which is
    a model going in circles. What it writes after that is dropped.
    """

    def __init__(self, offered: Offered, most: int) -> None:
        self._offered = offered
        self._most = most
        self._made: set[tuple[str, str]] = set()
        self._held = ""
        self._blanks = ""  # not given out yet: dropped where a call follows
        self._at_start = True  # nothing but blanks was written since the beginning, or since a call
        self._looked = 0  # how much of a block was looked through and had no end yet
        self.ended = False

    @property
    def called(self) -> bool:
        """Whether the model called a tool."""
        return bool(self._made)

    def feed(self, text: str) -> list[Piece]:
        """What became certain with ``text``."""
        self._held += text
        looked = self._looked
        if looked > SHORT and CLOSERS.isdisjoint(text):
            return []
        if looked > LONG and len(self._held) < looked + looked // GROWTH:
            return []
        return self._read(last=False)

    def finish(self) -> list[Piece]:
        """What was still held when the answer ended."""
        pieces = self._read(last=True)
        if self._blanks and not self.called:
            pieces.append(Delta(self._blanks))
        self._blanks = ""
        return pieces

    def _read(self, *, last: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while self._held and not self.ended and self._step(pieces, last):
            pass
        if self.ended:
            self._held = self._blanks = ""
        return pieces

    def _step(self, pieces: list[Piece], last: bool) -> bool:
        """Give out the next text or block; whether another one may follow at once."""
        bare = self._begins_bare()
        if bare is None and not last:
            return False
        place = 0 if bare else self._opening()
        if place is None:
            self._say(pieces, self._take(len(self._held) - (0 if last else doubtful(self._held, OPENINGS))))
            return False
        self._say(pieces, self._take(place))
        block = read_block(self._held, self._offered, last=last)
        self._looked = len(self._held) if block is None else 0
        if block is None:
            return False
        self._take(block.length)
        for part in block.parts:
            if isinstance(part, str):
                self._say(pieces, part)
            elif not self.ended:
                self._call(pieces, part)
        return True

    def _begins_bare(self) -> bool | None:
        """Whether a call without a tag begins here, past blanks; None where more is needed to tell."""
        if not self._at_start:
            return False
        blanks = self._take(len(self._held) - len(self._held.lstrip(BETWEEN if self.called else None)))
        self._blanks += "" if self.called else blanks
        return begins_bare(self._held)

    def _opening(self) -> int | None:
        places = [place for opening in OPENINGS if (place := self._held.find(opening)) >= 0]
        return min(places, default=None)

    def _say(self, pieces: list[Piece], text: str) -> None:
        """Give out text, the blanks at its end only once more text follows."""
        whole = self._blanks + text
        certain = whole.rstrip()
        self._blanks = whole[len(certain) :]
        if certain:
            self._at_start = False
            pieces.append(Delta(certain))

    def _call(self, pieces: list[Piece], call: ToolCall) -> None:
        made = call.name, json.dumps(call.arguments, sort_keys=True)
        self.ended = made in self._made or len(self._made) + 1 >= self._most
        if made not in self._made:
            self._made.add(made)
            pieces.append(Called(call))
        self._blanks, self._at_start = "", True

    def _take(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text
