"""Reading a grammar in GBNF, exactly as llama.cpp's own parser does.

The notation: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# From here on llama.cpp refuses a repetition, or takes it for one without end.
MOST_REPEATS = 2000
DEEPEST_NESTING = 50
NAME = re.compile(r"[A-Za-z0-9-]+")
ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
HEX = re.compile(r"[0-9a-fA-F]+")
SURROGATES, LARGEST_CODE = range(0xD800, 0xE000), 0x10FFFF
NUMBER = re.compile(r"[0-9]+")
LINE_END = re.compile(r"\r\n?|\n")
BLANKS = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
BLANKS_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")


class GrammarRefused(Exception):
    """Why a grammar is not taken, in words."""


@dataclass(frozen=True)
class Repeat:
    """``part`` from ``least`` to ``most`` times; ``most`` None is without end."""

    part: Part
    least: int
    most: int | None


@dataclass(frozen=True)
class Reference:
    """Another rule, by its name."""

    name: str


@dataclass(frozen=True)
class Group:
    """Alternatives in brackets."""

    choices: Choices


@dataclass(frozen=True)
class Characters:
    """A text or a class of characters, which reads at least one."""


@dataclass(frozen=True)
class Nothing:
    """The empty text."""


Part = Repeat | Reference | Group | Characters | Nothing
Choices = tuple[tuple[Part, ...], ...]


def read_gbnf(text: str) -> dict[str, Choices]:
    """The rules of a grammar by their names. Raises GrammarRefused, saying where it is not understood."""
    return _Reader(text).rules()


class _Reader:
    """The text of a grammar, read as llama.cpp's parser reads it. Raises GrammarRefused."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        # llama.cpp names a rule for each bracket and each optional repetition, and bounds their number.
        self._names: set[str] = set()
        self._made = 0

    def rules(self) -> dict[str, Choices]:
        found: dict[str, Choices] = {}
        self._skip(lines=True)
        while self._at < len(self._text):
            name = self._match(NAME)
            if not name:
                raise self._wrong("a rule's name is needed")
            self._skip(lines=False)
            if not self._take("::="):
                raise self._wrong("::= is needed")
            if name in found:
                raise GrammarRefused(f"rule “{name}” is there twice")
            self._names.add(name)
            self._skip(lines=True)
            found[name] = self._choices(nested=False)
            if self._at < len(self._text) and not self._match(LINE_END):
                raise self._wrong("not understood")
            self._skip(lines=True)
        return found

    def _choices(self, *, nested: bool) -> Choices:
        choices = [self._sequence(nested)]
        while self._take("|"):
            self._skip(lines=True)
            choices.append(self._sequence(nested))
        return tuple(choices)

    def _sequence(self, nested: bool) -> tuple[Part, ...]:
        parts: list[Part] = []
        while True:
            before = self._symbols
            part = self._part()
            if part is None:
                return tuple(parts)
            symbols = max(1, self._symbols - before) if isinstance(part, Group) else 1
            self._skip(lines=nested)
            # A mark after a mark repeats what the first one made.
            while (bounds := self._bounds(nested)) is not None:
                least, most = bounds
                symbols *= most or least or 1
                if isinstance(part, Nothing):
                    raise self._wrong("nothing is there to repeat")
                if symbols > MOST_REPEATS:
                    raise self._wrong(f"a repetition that needs more than {MOST_REPEATS} rules")
                self._made += 1 if most is None else most - least
                part = Repeat(part, least, most)
                self._skip(lines=nested)
            parts.append(part)

    def _part(self) -> Part | None:
        here = self._text[self._at : self._at + 1]
        if here == '"':
            return self._literal()
        if here == "[":
            return self._class()
        if self._take("."):
            return Characters()
        if here and here in "<!":
            raise self._wrong("tokens in a grammar are not supported")
        if here == "(":
            return self._group()
        name = self._match(NAME)
        self._names |= {name} - {""}
        return Reference(name) if name else None

    def _group(self) -> Group:
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            raise GrammarRefused(f"brackets more than {DEEPEST_NESTING} deep")
        self._made += 1
        self._at += 1
        self._skip(lines=True)
        choices = self._choices(nested=True)
        if not self._take(")"):
            raise self._wrong(") is needed")
        self._depth -= 1
        return Group(choices)

    def _literal(self) -> Part:
        self._at += 1
        empty = True
        while not self._take('"'):
            code = self._character()
            if code == 0 or code in SURROGATES or code > LARGEST_CODE:
                raise self._wrong("a character that no text can hold")
            empty = False
        return Nothing() if empty else Characters()

    def _class(self) -> Characters:
        self._at += 1
        self._take("^")
        empty = True
        while not self._take("]"):
            first = self._character()
            empty = False
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                if self._character() < first:
                    raise self._wrong("a range of characters runs backwards")
        if empty:
            raise self._wrong("a class without characters")
        return Characters()

    def _character(self) -> int:
        """The code point of the next character, written as itself or by an escape."""
        here = self._text[self._at : self._at + 1]
        if not here:
            raise GrammarRefused("it ends in the middle of a text or a class")
        self._at += 1
        if here != "\\":
            return ord(here)
        kind = self._text[self._at : self._at + 1]
        self._at += 1
        if kind in ESCAPES:
            return ord(ESCAPES[kind])
        digits = self._text[self._at : self._at + HEX_DIGITS.get(kind, 0)]
        if not digits or len(digits) < HEX_DIGITS[kind] or not HEX.fullmatch(digits):
            raise self._wrong("an escape that is not known")
        self._at += len(digits)
        return int(digits, 16)

    def _bounds(self, nested: bool) -> tuple[int, int | None] | None:
        """How often the part before is repeated, where a mark says so."""
        for mark, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(mark):
                return bounds
        if not self._take("{"):
            return None
        self._skip(lines=nested)
        least = self._count()
        if least is None:
            raise self._wrong("a number is needed")
        most: int | None = least
        self._skip(lines=nested)
        if self._take(","):
            self._skip(lines=nested)
            most = self._count()
            self._skip(lines=nested)
        if not self._take("}"):
            raise self._wrong("} is needed")
        if most is not None and most < least:
            raise self._wrong("a repetition that ends before it begins")
        if most == 0:
            raise self._wrong("a repetition of nothing")
        return least, most

    def _count(self) -> int | None:
        digits = self._match(NUMBER)
        if not digits:
            return None
        if len(digits) > len(str(MOST_REPEATS)) or int(digits) > MOST_REPEATS:
            raise self._wrong(f"more than {MOST_REPEATS} repetitions")
        return int(digits)

    @property
    def _symbols(self) -> int:
        return len(self._names) + self._made

    def _skip(self, *, lines: bool) -> None:
        self._match(BLANKS_AND_LINES if lines else BLANKS)

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if not found:
            return ""
        self._at = found.end()
        return found.group()

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _wrong(self, reason: str) -> GrammarRefused:
        line = self._text.count("\n", 0, self._at) + 1
        column = self._at - self._text.rfind("\n", 0, self._at)
        return GrammarRefused(f"line {line}, column {column}: {reason}")
