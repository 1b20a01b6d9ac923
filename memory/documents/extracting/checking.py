"""What stands between whatever found a statement, rule or model, and the graph: it has to be in the document."""

from __future__ import annotations

import re

from memory.documents.extracting.findings import fits
from memory.documents.extracting.structure import is_instruction
from memory.documents.found import Entity, Extraction, Reading, Said, scalars
from memory.text import fold


class Check:
    """Holds what was found against one document. In JSON letters may be written as codes: both count."""

    def __init__(self, reading: Reading) -> None:
        self._text = reading.text
        self._present = fold(
            "\n".join([reading.text, *(each.value for tree in reading.trees for each in scalars(tree))])
        )

    def passed(self, found: Extraction) -> Extraction:
        """What of ``found`` the document holds, and asks nobody to do."""
        named = tuple(each for each in found.named if self._is_in(each.start, each.end) and self._has(each.entity.name))
        return Extraction(named, tuple(each for each in found.said if self.holds(each)))

    def holds(self, said: Said) -> bool:
        """Whether a statement's words are in the text at its place, and the names of its ends are in the document."""
        if not self._is_in(said.start, said.end) or is_instruction(self._text[said.start : said.end]):
            return False
        if not fits(said.subject, said.predicate, said.object):
            return False
        return self._has(said.subject.name) and (not isinstance(said.object, Entity) or self._has(said.object.name))

    def _is_in(self, start: int, end: int) -> bool:
        return 0 <= start < end <= len(self._text) and bool(self._text[start:end].strip())

    def _has(self, name: str) -> bool:
        # The words one by one: a record may have first and last name in two places.
        return all(word in self._present for word in re.findall(r"\w+", fold(name)))
