"""Where an answer has said what somebody taught as the whole answer, so that it ends there.

A small model that was shown "El PIN es 4821." says it, and then says it again, or something else that nobody taught
(``docs/decisions/recalled-lessons.md``).
"""

from __future__ import annotations

import re
from typing import Final

from app.assistant.grounding import WORD, Grounding, fold

# Marks right after a word: the end of a sentence with what closes around it, or the end of a line.
_REST: Final = re.compile(r"[^\w\s]*(?=\s)")
_ENDS: Final = re.compile(r"[.!?…。！？]")


class TaughtEnd:
    """Called with one answer as far as it is written, again and again as it grows.

    ``taught`` is said where its words stand in the answer, in their order, and a sentence or a line ends with them. It
    ends the answer where ``grounding`` holds too, so that every code is there letter for letter.
    """

    def __init__(self, taught: str, grounding: Grounding) -> None:
        found = list(WORD.finditer(taught))
        self._words = [fold(word[0]) for word in found]
        self._marks = taught[found[-1].end() :].rstrip() if found else ""
        self._grounding = grounding
        self._from = 0

    def __call__(self, answer: str) -> int | None:
        """How many characters of ``answer`` say it; None where it is not said yet."""
        count = len(self._words)
        found = list(WORD.finditer(answer, self._from))
        for first in range(len(found) - count + 1 if count else 0):
            said = found[first : first + count]
            if [fold(word[0]) for word in said] != self._words:
                continue
            end = self._sentence_end(answer, said[-1].end())
            if end is not None and self._grounding.holds(answer[:end]):
                return end
        if 0 < count <= len(found):
            # What is said may begin with the last words, of which the very last may still get longer.
            self._from = found[-count].start()
        return None

    def _sentence_end(self, answer: str, end: int) -> int | None:
        """Where the sentence ends whose last word ends at ``end``; None where it goes on, or may do so."""
        marks = self._marks if answer.startswith(self._marks, end) else ""
        rest = _REST.match(answer, end + len(marks))
        if rest is None:
            return None
        over = _ENDS.search(marks + rest[0]) or answer[rest.end() :].lstrip(" \t").startswith("\n")
        return rest.end() if over else None
