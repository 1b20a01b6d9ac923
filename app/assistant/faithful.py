"""Whether an answer says what a tool found, and which source an answer rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tools.registry import Source, ToolResult

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"[^\W_]+")
_CITATION: Final = re.compile(r"\[(\d{1,3})\]")
_LONGEST_CITATION: Final = len("[999]")


def says_the_result(answer: str, question: str, result: ToolResult, least_overlap: float) -> bool:
    """Whether ``answer`` holds all that it must say, no number of its own, and little else.

    A small model garbles results in three ways: it leaves the number out, it adds another, or it writes about
    something else around it. The answer is used only if it does none of them.
    """
    given = f"{question} {result.text}"
    words, known = _words(answer), set(_words(given))
    if not words or not set(_NUMBER.findall(answer)) <= set(_NUMBER.findall(given)):
        return False
    padded = f" {' '.join(_tokens(answer))} "
    if not all(f" {' '.join(_tokens(needed))} " in padded for needed in result.must_say):
        return False
    return sum(word in known for word in words) >= least_overlap * len(words)


def with_citation(answer: str, sources: Sequence[Source], excerpts: Sequence[str]) -> str:
    """``answer`` ending in the source whose excerpt shares most words with it, unless it cites one already."""
    if not sources or not answer.strip() or _CITATION.search(answer):
        return answer
    said = set(_words(answer))
    overlaps = [len(said & set(_words(excerpt))) for excerpt in excerpts]
    best = max(range(len(sources)), key=lambda index: overlaps[index])
    return f"{answer.rstrip()} [{sources[best].number}]"


class CitationFilter:
    """Drops citations of sources that do not exist from an answer that arrives in pieces."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._known = {source.number for source in sources}
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown; a "[" that may become a citation is held back until it is one or is not."""
        text = self._held + piece
        opened = text.rfind("[")
        tail = text[opened:] if opened >= 0 else ""
        holds = bool(tail) and len(tail) < _LONGEST_CITATION and re.fullmatch(r"\[\d*", tail) is not None
        self._held = tail if holds else ""
        return self._checked(text[: len(text) - len(self._held)])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held

    def _checked(self, text: str) -> str:
        return _CITATION.sub(lambda cited: cited[0] if int(cited[1]) in self._known else "", text)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _tokens(text: str) -> list[str]:
    """Numbers whole ("12.5", "18:46") and words, in lower case."""
    return [token.casefold() for token in re.findall(rf"{_NUMBER.pattern}|{_WORD.pattern}", text)]
