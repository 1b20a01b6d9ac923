"""How likely a lesson or a fact is what a question means, by its vectors and its words together.

A logistic regression over a few likenesses (``memory.recall.meaning`` in the settings), fitted on the sets that recall
by words was made with (``docs/decisions/recall-by-meaning.md``). Vectors tell what a text is about better than what it
asks of it, and take "Hugo's shoes" for "Hugo's trousers": so what the words conflict in counts against them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from configs.sections.recall import MeaningSettings
from memory.likeness import Conflict
from memory.text import fold
from memory.wording import opened

_WORD = re.compile(r"[\w'’]+")
_I = re.compile(r"i(?:['’]\w+)?")


@dataclass(frozen=True)
class Said:
    """A question as it is written: all its ``words``, folded, and which of them are ``names`` or numbers."""

    words: frozenset[str]
    names: frozenset[str]


def said(question: str) -> Said:
    """The first word of a question is no name: every one has a large letter there."""
    names = set()
    for place, word in enumerate(_WORD.findall(question)):
        named = place > 0 and word[0].isupper() and len(word) > 1 and not _I.fullmatch(word.lower())
        if named or any(sign.isdigit() for sign in word):
            names.update(opened(word)[:1] or [fold(word)])
    return Said(frozenset(opened(question)), frozenset(names))


class Meant:
    """Likelihoods from 0 to 1."""

    def __init__(self, settings: MeaningSettings) -> None:
        self._settings = settings

    def lesson(self, asked: Said, held: Said, words: float, likenesses: Sequence[float], conflict: Conflict) -> float:
        """``words``: likeness by words. ``likenesses``: in meaning, with the lesson's question and with its answer."""
        settings = self._settings
        same = len(asked.words & held.words) / (len(asked.words | held.words) or 1)
        names = bool(asked.names - held.words) + bool(held.names - asked.words)
        return _logistic(
            settings.beginning
            + settings.by_meaning * sum(likenesses) / len(likenesses)
            + settings.by_words * words
            + settings.asks_other * conflict.asks
            + settings.names_other * names
            + settings.swapped * same * max(conflict.asks, conflict.things)
        )

    def fact(self, words: float, likenesses: Sequence[float]) -> float:
        """``words``: likeness by words. ``likenesses``: in meaning, with the fact."""
        settings = self._settings
        by_meaning = settings.fact_by_meaning * likenesses[0]
        return _logistic(settings.fact_beginning + by_meaning + settings.fact_by_words * words)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
