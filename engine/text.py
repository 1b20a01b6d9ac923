"""From the bytes of tokens to text that can be shown: whole characters, and never a piece of a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Collects the bytes of an answer's tokens and gives out text that will not change any more.

    A token may be part of a character, so bytes are held until the character is whole; text that may turn
    out to be the beginning of one of ``stops`` is held until that is clear.
    """

    def __init__(self, stops: tuple[str, ...] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """The text that became certain with ``piece``; sets ``stopped`` when a stop string came."""
        if self.stopped:
            return ""
        self._held += self._decoder.decode(piece)
        cuts = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if cuts:
            self.stopped = True
            return self._take(min(cuts))
        return self._take(len(self._held) - doubtful(self._held, self._stops))

    def finish(self) -> str:
        """What was still held when the answer ended, half a character as U+FFFD."""
        if self.stopped:
            return ""
        self._held += self._decoder.decode(b"", final=True)
        return self._take(len(self._held))

    def _take(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text


def doubtful(text: str, marks: Sequence[str]) -> int:
    """How many characters at the end of ``text`` may be the beginning of one of ``marks``."""
    longest = 0
    for mark in marks:
        for length in range(min(len(mark) - 1, len(text)), longest, -1):
            if text.endswith(mark[:length]):
                longest = length
                break
    return longest
