"""The rules' reading of one document: its records, then its sentences, then one name for whoever has one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from memory.documents.extracting.blocks import Block, Blocks, cut
from memory.documents.extracting.checking import Check
from memory.documents.extracting.findings import Findings
from memory.documents.extracting.prose import Prose
from memory.documents.extracting.structure import Structure
from memory.documents.found import Entity, Extraction, Reading, scalars
from memory.text import fold

# Another number has every document read anew by the rules. Raise it with any change to what they find.
RULES_VERSION: Final = "rules-1"
_WORDS_OF_A_SENTENCE: Final = 4


def extract(reading: Reading) -> Extraction:
    """What a document says about whom. Every statement is one that ``Check`` lets pass."""
    findings = Findings(reading.text)
    structure, prose = Structure(findings), Prose(findings)
    blocks = cut(reading.text) if reading.prose else Blocks()
    for tree in (*reading.trees, *blocks.records):
        structure.read(tree)
    for block in (*blocks.prose, *_notes(reading)):
        prose.read(block)
    return Check(reading).passed(_joined(findings.found()))


def _notes(reading: Reading) -> Iterator[Block]:
    """What is written in sentences inside of records; not where letters are written as codes."""
    for value in (each for tree in reading.trees for each in scalars(tree)):
        written = reading.text[value.start : value.end]
        if len(written.split()) >= _WORDS_OF_A_SENTENCE and "\\" not in written:
            yield Block(value.start, value.end)


def _joined(found: Extraction) -> Extraction:
    """The same, where a name in a sentence is whoever alone has a record under it."""
    records: dict[tuple[str, str], set[int]] = defaultdict(set)
    for named in found.named:
        if named.entity.record is not None:
            records[named.entity.kind, fold(named.entity.name)].add(named.entity.record)

    def whole(entity: Entity) -> Entity:
        own = records[entity.kind, fold(entity.name)]
        return replace(entity, record=next(iter(own))) if entity.record is None and len(own) == 1 else entity

    said = {
        (s.predicate, whole(s.subject), whole(s.object) if isinstance(s.object, Entity) else fold(s.object)): replace(
            s, subject=whole(s.subject), object=whole(s.object) if isinstance(s.object, Entity) else s.object
        )
        for s in reversed(found.said)
    }
    names = tuple(dict.fromkeys(replace(each, entity=whole(each.entity)) for each in found.named))
    return Extraction(names, tuple(reversed(said.values())))
