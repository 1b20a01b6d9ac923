"""Where the rules put what they find: each statement once, of the right kinds, with the words that say it."""

from __future__ import annotations

import re
from typing import Final

from memory.documents.found import Entity, Extraction, Named, Said
from memory.graph.terms import PROPERTIES, RELATIONS, SYMMETRIC
from memory.text import fold

# A line longer than this is no evidence that a person would read: the value alone is, then.
_LONGEST_LINE: Final = 200


class Findings:
    """Of one document with the text ``text``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._named: dict[tuple[Entity, int], Named] = {}
        self._said: dict[tuple[object, ...], Said] = {}

    def name(self, entity: Entity, start: int, end: int) -> None:
        """Somebody or something is named there."""
        self._named.setdefault((entity, start), Named(entity, start, end))

    def say(self, subject: Entity, predicate: str, obj: Entity | str, start: int, end: int) -> None:
        """A statement; one between kinds that it cannot be between, or that is known already, is passed over."""
        if not fits(subject, predicate, obj):
            return
        told = fold(obj.name) if isinstance(obj, Entity) else fold(obj)
        ends: tuple[object, ...] = (subject.kind, fold(subject.name), subject.record, told)
        if predicate in SYMMETRIC and isinstance(obj, Entity):
            ends = tuple(sorted((fold(subject.name), told)))
        self._said.setdefault((predicate, *ends), Said(subject, predicate, obj, start, end))

    def line(self, start: int, end: int) -> tuple[int, int]:
        """Start and end of the line that holds ``text[start:end]``, without the blanks around it."""
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        stop = len(self.text) if stop < 0 else stop
        if stop - begin > _LONGEST_LINE:
            return start, end
        line = self.text[begin:stop]
        blank = len(line) - len(line.lstrip())
        return begin + blank, begin + len(line.rstrip())

    def found(self) -> Extraction:
        """All of it."""
        return Extraction(tuple(self._named.values()), tuple(self._said.values()))


def fits(subject: Entity, predicate: str, obj: Entity | str) -> bool:
    """Whether a statement is one that there can be: between these kinds, and not of somebody about themselves."""
    if isinstance(obj, str):
        return bool(re.search(r"\w", obj)) and subject.kind in PROPERTIES.get(predicate, frozenset())
    before, after = RELATIONS.get(predicate, (frozenset(), frozenset()))
    return subject.kind in before and obj.kind in after and fold(subject.name) != fold(obj.name)
