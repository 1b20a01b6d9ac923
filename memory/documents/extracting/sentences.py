"""Sentences: where they are, and which of them say something rather than ask, wish, doubt or command it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from memory.documents.extracting.names import phrases_of
from memory.documents.extracting.structure import is_instruction
from memory.text import fold

# A sentence ends here, but not behind what is written short. Longer ones are cut: nobody writes them, but machines do.
_SHORT: Final = r"(?<![\s.][A-ZÀ-Þ])(?<!\b(?:Sr|Dr|St|No))(?<!\b(?:Sra|Dra|Sta|Ltd|Inc|núm))"
_HEAD: Final = r"(?=[\"«“(¿¡]?[A-ZÀ-Þ\d¿¡])"
_END: Final = re.compile(rf"{_SHORT}[.!?…]+[\"»”')\]]*\s+{_HEAD}|\.[ \t]*\n\s*{_HEAD}|;\s+")
_QUOTED: Final = re.compile(r"«[^»]*»?|“[^”]*”?|\"[^\"]*\"?")
_LONGEST: Final = 600
_LINE: Final = re.compile(r"[^\n]*\n(?=[ \t]*[\"«“(¿¡]?[A-ZÀ-Þ])")
_MARGIN: Final = 60


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of ``text[start:end]``."""
    begin = start
    ends = {found.end() for found in _END.finditer(text, start, end)}
    # A line that stops long before the margin is one of a list, a form or a heading: nothing goes on behind it.
    ends |= {found.end() for found in _LINE.finditer(text, start, end) if len(found[0]) < _MARGIN}
    for stop in sorted({*ends, end}):
        if text[begin:stop].strip() and stop - begin <= _LONGEST:
            yield begin, stop
        begin = stop


class Sentence:
    """One sentence of ``text``, in which line ends are spaces."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = re.sub(r"\s", " ", text[start:end])
        self.start = start
        self._quoted = [found.span() for found in _QUOTED.finditer(self.text)]
        self.says = not self.text.rstrip(" \"»”')").endswith("?") and not is_instruction(self.text)
        doubt = _doubts().search(_plain(self.text))
        # What is folded may be longer or shorter than what is written: words are counted.
        self._sure_words = len(_plain(self.text)[: doubt.start()].split()) if doubt else None

    def sure(self, at: int) -> bool:
        """Whether what is said from ``at`` on, in characters of the sentence, is said as a fact."""
        if not self.says or any(begin <= at < end for begin, end in self._quoted):
            return False
        return self._sure_words is None or len(self.text[:at].split()) < self._sure_words


def _plain(text: str) -> str:
    # Sí is yes, si is if.
    return fold(re.sub(r"\b[Ss]í\b", "yes", text))


@cache
def _doubts() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases_of('doubts')))})(?!\w)")
