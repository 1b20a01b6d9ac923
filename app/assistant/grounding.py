"""Whether an answer says what a lesson teaches.

A model this small reads "Dad is allergic to walnuts" and answers "nuts" about once in six times
(``docs/decisions/recalled-lessons.md``). What a lesson teaches are the words of the corrected answer that are neither
in the question nor in the rejected answer; an answer is shown once it has most of them, and every code, password or
number letter for letter.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from configs.letters import unaccented
from memory.facts import Fact
from memory.lessons import Lesson

# An accent may be a character of its own.
WORD: Final = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
# What a code, a password or a number may be part of: anything up to a space, without the punctuation around it.
_UNSPACED: Final = re.compile(r"[^\W_](?:\S*[^\W_])?")
_UNFINISHED: Final = re.compile(r"\S+\Z")
# Shorter words are mostly articles and prepositions.
_SHORTEST: Final = 4


class Grounding:
    """Judges answers: ``share`` (0 to 1) of the words of ``text`` that are not in ``known_text`` have to be there."""

    def __init__(self, text: str, known_text: str, share: float) -> None:
        known = _folded(known_text)
        taught = {fold(word) for word in WORD.findall(text)}
        names = {fold(found[0]) for found in WORD.finditer(text) if _is_name(found)}
        weighty = {word for word in taught if len(word) >= _SHORTEST}
        # The first of these that is not empty: a lesson may only say no, or repeat the question's own words.
        self._taught = names - known or weighty - known or taught - known or taught
        self._needed = share * len(self._taught)
        self._codes = _codes(text) - _codes(known_text)

    def holds(self, answer: str, *, ended: bool = True) -> bool:
        """Whether ``answer``, as far as it is written, says enough of it.

        Its last word may be unfinished. Where it has not ``ended``, a code at its very end may still get longer and
        is none yet.
        """
        sure = answer if ended else _UNFINISHED.sub("", answer)
        return len(self._taught & _folded(answer)) >= self._needed and self._codes <= _codes(sure)


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


def _codes(text: str) -> set[str]:
    """The words that mean something else in other letters: those with a digit, or with large letters inside."""
    pieces: list[str] = _UNSPACED.findall(unicodedata.normalize("NFC", text))
    return {piece for piece in pieces if _is_code(piece)}


def _is_code(piece: str) -> bool:
    # Word by word: Coca-Cola and O'Brien are names.
    mixed = any(word != word.upper() and word[1:] != word[1:].lower() for word in WORD.findall(piece))
    return mixed or any(letter.isdigit() for letter in piece)


def _folded(text: str) -> set[str]:
    return {fold(word) for word in WORD.findall(text)}


def fold(word: str) -> str:
    """Small letters without marks, and without a plural's s: a walnut is as right as walnuts, NUNEZ as Núñez."""
    plain = unaccented(word).replace("ñ", "n")
    return plain[:-1] if len(plain) > _SHORTEST and plain.endswith("s") else plain
