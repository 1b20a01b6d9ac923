"""Whether an answer says what a lesson teaches.

A model this small reads "Dad is allergic to walnuts" and answers "nuts" about once in six times
(``docs/decisions/recalled-lessons.md``). What a lesson teaches are the words of the corrected answer that are neither
in the question nor in the rejected answer; an answer is shown once it has most of them.
"""

from __future__ import annotations

import re
from typing import Final

from configs.letters import unaccented
from memory.facts import Fact
from memory.lessons import Lesson

# An accent may be a character of its own.
_WORD: Final = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
# Shorter words are mostly articles and prepositions.
_SHORTEST: Final = 4


class Grounding:
    """Judges answers: ``share`` (0 to 1) of the words of ``text`` that are not in ``known_text`` have to be there."""

    def __init__(self, text: str, known_text: str, share: float) -> None:
        known = _folded(known_text)
        taught = {_fold(word) for word in _WORD.findall(text)}
        names = {_fold(found[0]) for found in _WORD.finditer(text) if _is_name(found)}
        weighty = {word for word in taught if len(word) >= _SHORTEST}
        # The first of these that is not empty: a lesson may only say no, or repeat the question's own words.
        self._taught = names - known or weighty - known or taught - known or taught
        self._needed = share * len(self._taught)

    def holds(self, answer: str) -> bool:
        """Whether ``answer``, as far as it is written, says enough of it; its last word may be unfinished."""
        return len(self._taught & _folded(answer)) >= self._needed


def by_lesson(lesson: Lesson, question: str, share: float) -> Grounding:
    """What a lesson teaches about ``question``."""
    return Grounding(lesson.chosen, f"{question} {lesson.question} {lesson.rejected}", share)


def by_fact(fact: Fact, question: str, share: float) -> Grounding:
    """What a remembered fact says beyond ``question``."""
    return Grounding(fact.text, question, share)


def _is_name(found: re.Match[str]) -> bool:
    """Whether a word is a name or a number: what an answer can least do without."""
    word = found[0]
    return (word[0].isupper() and found.start() > 0) or any(letter.isdigit() for letter in word)


def _folded(text: str) -> set[str]:
    return {_fold(word) for word in _WORD.findall(text)}


def _fold(word: str) -> str:
    """Small letters without marks, and without a plural's s: a walnut is as right as walnuts, NUNEZ as Núñez."""
    plain = unaccented(word).replace("ñ", "n")
    return plain[:-1] if len(plain) > _SHORTEST and plain.endswith("s") else plain
