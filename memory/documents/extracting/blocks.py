"""A text cut into what it is made of: headings, lines of "key: value", tables, what somebody says, and paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from memory.documents.extracting.names import is_role, key_of, synonyms
from memory.documents.found import Listing, Record, Scalar, Tree
from memory.text import fold

_FIELD: Final = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:\*\*|__)?(?P<key>[^\W\d_][^:*|]{0,38}?)(?:\*\*|__)?\s?:(?:\*\*|__)?\s+(?P<value>\S.*)"
)
_SPOKEN: Final = re.compile(
    r"\s*(?:[-*+]\s+)?(?:[\[(]?\d{1,2}:\d{2}(?::\d{2})?[\])]?\s+)?(?:\*\*|__)?"
    r"(?P<who>[^\W\d_][\w'’. -]{0,38}?)(?:\*\*|__)?\s?:(?:\*\*|__)?\s+(?P<what>\S.*)"
)
_HEADING: Final = re.compile(r"\s*#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_RULE: Final = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_CELL: Final = re.compile(r"[^|]+")


@dataclass(frozen=True)
class Block:
    """A stretch of prose, ``text[start:end]``; ``speaker``: who says it, in a transcript."""

    start: int
    end: int
    speaker: str = ""


@dataclass
class Blocks:
    """What a text is made of."""

    prose: list[Block] = field(default_factory=list)
    records: list[Tree] = field(default_factory=list)


class _Cutting:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = Blocks()
        self._speakers = _speakers(text)
        self._fields: list[tuple[str, Tree]] = []
        self._paragraph: list[int] = []
        self._rows: list[list[Scalar]] = []
        self._heading: Scalar | None = None
        self._speaker = ""

    def cut(self) -> Blocks:
        for start, end in _lines(self.text):
            self._line(start, end, self.text[start:end])
        self._flush()
        return self.found

    def _line(self, start: int, end: int, line: str) -> None:
        if line.count("|") >= 2:
            self._end_paragraph()
            if not _RULE.fullmatch(line.strip()):
                self._rows.append(_cells(line, start))
            return
        self._end_table()
        if not line.strip():
            self._end_paragraph()
        elif heading := _HEADING.match(line):
            self._flush()
            said = heading["text"]
            self._heading = (
                Scalar(said, start + heading.start("text"), start + heading.end("text")) if is_role(said) else None
            )
        elif (spoken := _SPOKEN.match(line)) and spoken["who"].strip() in self._speakers:
            self._flush()
            self._speaker = spoken["who"].strip()
            self._paragraph = [start + spoken.start("what"), end]
        elif (told := _FIELD.match(line)) and key_of(told["key"]) in synonyms("fields"):
            self._end_paragraph()
            value = told["value"].strip().strip("*_")
            at = start + line.index(value, told.start("value"))
            self._fields.append((told["key"], Scalar(value, at, at + len(value))))
        else:
            self._end_fields()
            if _BULLET.match(line):
                self._end_paragraph()
            self._paragraph = [self._paragraph[0] if self._paragraph else start, end]

    def _flush(self) -> None:
        self._end_paragraph()
        self._end_fields()
        self._end_table()
        self._heading = None

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self.found.prose.append(Block(self._paragraph[0], self._paragraph[1], self._speaker))
        self._paragraph, self._speaker = [], ""

    def _end_fields(self) -> None:
        if self._fields:
            known = {synonyms("fields")[key_of(key)] for key, _ in self._fields}
            role: list[tuple[str, Tree]] = [("role", self._heading)] if self._heading and "role" not in known else []
            self.found.records.append(Record((*self._fields, *role)))
        self._fields = []

    def _end_table(self) -> None:
        heads, rows = self._rows[:1], self._rows[1:]
        if heads and rows:
            records = [
                Record(tuple((head.value, cell) for head, cell in zip(heads[0], row, strict=False) if cell.value))
                for row in rows
            ]
            self.found.records.append(Listing(tuple(records)))
        self._rows = []


def cut(text: str) -> Blocks:
    """The blocks of a text."""
    return _Cutting(text).cut()


def _speakers(text: str) -> frozenset[str]:
    """Who speaks in a transcript: whoever is followed by a colon at least twice, where there are several who speak.

    Or once, by first and last name, between others who speak; a field ("Fecha:") is nobody, unless it speaks again.
    """
    count: Counter[str] = Counter()
    for start, end in _lines(text):
        if (found := _SPOKEN.match(text[start:end])) and len(found["who"].split()) <= 4:
            count[found["who"].strip()] += 1
    fields = synonyms("fields")
    often = {who for who, times in count.items() if times >= 2}
    if not often or sum(count[who] for who in often) < 3:
        return frozenset()
    named = {who for who in count if len(who.split()) >= 2 and who[0].isupper() and key_of(who) not in fields}
    headed = {who for who in count if fold(who) in ("fecha", "date", "asistentes", "attendees")}
    return frozenset((often | {who for who in named if _is_titled(who)}) - headed)


def _is_titled(who: str) -> bool:
    return all(word[0].isupper() for word in who.split())


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        start += len(line)


def _cells(line: str, start: int) -> list[Scalar]:
    found = []
    for match in _CELL.finditer(line):
        value = match[0].strip()
        at = start + match.start() + len(match[0]) - len(match[0].lstrip())
        found.append(Scalar(value, at, at + len(value)))
    return [cell for cell in found if cell.value] if line.strip().startswith("|") else found
