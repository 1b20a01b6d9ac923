"""Regular expressions of JSON Schema as GBNF, for texts inside JSON.

What is understood are the expressions of ECMA-262 that describe the whole text, from ^ to $, by characters, classes,
groups, alternatives and repetitions. The rest (looking around, back references, boundaries) is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.gbnf import SURROGATES

Range = tuple[int, int]
DIGITS: tuple[Range, ...] = ((0x30, 0x39),)
WORD: tuple[Range, ...] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACES: tuple[Range, ...] = (
    (0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
LINE_ENDS: tuple[Range, ...] = ((0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029))
KINDS = {"d": DIGITS, "w": WORD, "s": SPACES}
CONTROLS = {"n": 0xA, "r": 0xD, "t": 0x9, "f": 0xC, "v": 0xB}
# Characters that JSON writes with a stroke before them, and those that a class may not name as themselves.
WITH_STROKE = {0x22: '"', 0x5C: "\\\\", 0x8: "b", 0xC: "f", 0xA: "n", 0xD: "r", 0x9: "t"}
NOT_PLAIN: tuple[Range, ...] = ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F))
BOUNDS = re.compile(r"\{(\d+)(,(\d*))?\}")
SIGNS = "^$\\.*+?()[]{}|/-"
LONGEST_PATTERN = 1000
DEEPEST_GROUPS = 20


class PatternRefused(Exception):
    """Why an expression is not taken, in words."""


@dataclass(frozen=True)
class Characters:
    """The characters in ``ranges``, or with ``others`` all but these."""

    ranges: tuple[Range, ...]
    others: bool = False

    def holds(self, code: int) -> bool:
        return any(low <= code <= high for low, high in self.ranges) != self.others


def pattern_rule(pattern: str) -> str:
    """The texts that ``pattern`` describes, without quotation marks, as the right side of a rule.

    Raises PatternRefused.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternRefused(f"longer than {LONGEST_PATTERN} characters")
    if not pattern.startswith("^") or not pattern.endswith("$") or len(pattern) < len("^$"):
        raise PatternRefused("it must begin with ^ and end with $")
    return _Reader(pattern[1:-1]).whole()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> str:
        rule = self._sequence()
        if self._here == "|":
            raise PatternRefused("alternatives between ^ and $ need brackets around them")
        if self._here:
            raise PatternRefused(f"“{self._here}” is not understood")
        return rule or '""'

    @property
    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        here = self._here
        if not here:
            raise PatternRefused("it ends too soon")
        self._at += 1
        return here

    def _alternatives(self) -> str:
        choices = [self._sequence()]
        while self._here == "|":
            self._at += 1
            choices.append(self._sequence())
        return " | ".join(choice or '""' for choice in choices)

    def _sequence(self) -> str:
        parts: list[str] = []
        while self._here and self._here not in "|)":
            parts.append(self._part() + self._repetition())
        return " ".join(parts)

    def _part(self) -> str:
        here = self._next()
        if here == "(":
            return self._group()
        if here == "[":
            return _class(self._class())
        if here == ".":
            return _class(Characters(LINE_ENDS, others=True))
        if here == "\\":
            return _class(self._escape())
        if here in "*+?{}^$]":
            raise PatternRefused(f"“{here}” is not understood there")
        return _class(Characters(((ord(here), ord(here)),)))

    def _group(self) -> str:
        self._depth += 1
        if self._depth > DEEPEST_GROUPS:
            raise PatternRefused(f"brackets more than {DEEPEST_GROUPS} deep")
        if self._here == "?":
            self._at += 1
            if self._next() != ":":
                raise PatternRefused("of groups with ? only (?:…) are understood")
        inner = self._alternatives()
        if self._next() != ")":
            raise PatternRefused("a bracket is not closed")
        self._depth -= 1
        return f"({inner})"

    def _repetition(self) -> str:
        bounds = ""
        if self._here and self._here in "*+?":
            bounds = self._next()
        elif found := BOUNDS.match(self._text, self._at):
            self._at = found.end()
            bounds = found.group()
        if bounds and self._here == "?":
            # As few as possible: the same texts.
            self._at += 1
        return "" if bounds in ("{1}", "{1,1}") else bounds

    def _class(self) -> Characters:
        others = self._here == "^"
        self._at += others
        ranges: list[Range] = []
        while self._here != "]":
            first = self._member()
            if self._here == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._member()
                if len(first) != 1 or len(last) != 1 or first[0][0] > last[0][0]:
                    raise PatternRefused("a range of characters is not one")
                first = ((first[0][0], last[0][1]),)
            ranges += first
        self._at += 1
        if not ranges:
            raise PatternRefused("a class without characters")
        return Characters(tuple(ranges), others)

    def _member(self) -> tuple[Range, ...]:
        here = self._next()
        if here != "\\":
            return ((ord(here), ord(here)),)
        found = self._escape()
        if found.others:
            raise PatternRefused("a class inside a class that leaves characters out")
        return found.ranges

    def _escape(self) -> Characters:
        here = self._next()
        if here.lower() in KINDS:
            return Characters(KINDS[here.lower()], others=here.isupper())
        if here in CONTROLS:
            code = CONTROLS[here]
        elif here in "xu":
            size = 2 if here == "x" else 4
            digits, self._at = self._text[self._at : self._at + size], self._at + size
            if not re.fullmatch(rf"[0-9a-fA-F]{{{size}}}", digits):
                raise PatternRefused(f"\\{here} needs {size} digits")
            code = int(digits, 16)
        elif here in SIGNS:
            code = ord(here)
        else:
            raise PatternRefused(f"\\{here} is not understood")
        return Characters(((code, code),))


def _class(characters: Characters) -> str:
    """One character of a text in JSON, written as JSON writes it."""
    with_stroke = "".join(sign for code, sign in WITH_STROKE.items() if characters.holds(code))
    plain = _plain(characters)
    choices = ([f"[{plain}]"] if plain else []) + ([rf'"\\" [{with_stroke}]'] if with_stroke else [])
    if not choices:
        raise PatternRefused("a class of characters that JSON cannot write")
    return choices[0] if len(choices) == 1 and plain else f"({' | '.join(choices)})"


def _plain(characters: Characters) -> str:
    """The inside of a GBNF class of those characters that JSON writes as themselves; empty where there are none."""
    if characters.others:
        return "^" + "".join(map(_spelled, (*NOT_PLAIN, *characters.ranges)))
    ranges = list(characters.ranges)
    for low, high in (*NOT_PLAIN, (SURROGATES[0], SURROGATES[-1])):
        pieces = [((first, min(last, low - 1)), (max(first, high + 1), last)) for first, last in ranges]
        ranges = [each for pair in pieces for each in pair if each[0] <= each[1]]
    return "".join(map(_spelled, ranges))


def _spelled(each: Range) -> str:
    low, high = (f"\\U{code:08X}" for code in each)
    return low if low == high else f"{low}-{high}"
