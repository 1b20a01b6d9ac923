"""What the model is asked about a sentence that the rules made nothing of, and what of its answer is believed.

The model chooses; it writes nothing of its own. Names are those of the sentence, relations those whose words stand in
it, and "none" is always an answer. What it chose counts where it chooses the same however the names are put to it, and
where the words of the relation stand between the two names with no other name between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from memory.documents.extracting.blocks import cut
from memory.documents.extracting.names import NAME, is_company, is_place, may_be, trimmed
from memory.documents.extracting.sentences import Sentence, sentences
from memory.documents.found import Entity, Extraction, Named, Reading, Said
from memory.graph.terms import RELATIONS, Kind
from memory.text import fold

# Another number has every document asked about anew.
MODEL_VERSION: Final = "model-1"
NONE: Final = "none"
_CUES: Final = Path(__file__).resolve().parents[2] / "data" / "cues.yaml"
_A_NAME: Final = re.compile(rf"(?<!\w){NAME}")
_NOT: Final = re.compile(r"(?<!\w)(?:no|ni|nunca|jamas|tampoco|sin|not|never|nor|neither|without|\w+n['’]t)(?!\w)")
_MOST_NAMES: Final = 5


@dataclass(frozen=True)
class Question:
    """A sentence of a document, who is named in it, and what it may say of them."""

    sentence: str
    start: int
    names: tuple[tuple[int, int], ...]
    relations: tuple[str, ...]

    def schema(self, *, turned: bool) -> dict[str, Any]:
        """What an answer looks like (JSON Schema); ``turned``: with the choices in the other order."""
        names = list(dict.fromkeys(self.sentence[start:end] for start, end in self.names))
        relations = [*self.relations, NONE]
        choices = {"subject": names, "relation": relations, "object": names}
        fields = {name: {"enum": each[::-1] if turned else each} for name, each in choices.items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def questions(reading: Reading, found: Extraction) -> Iterator[Question]:
    """The sentences to ask about: none of which the rules have taken something."""
    if not reading.prose:
        return
    taken = [(said.start, said.end) for said in found.said]
    for block in cut(reading.text).prose:
        for start, end in sentences(reading.text, block.start, block.end):
            if any(begin < end and start < stop for begin, stop in taken):
                continue
            question = _question(Sentence(reading.text, start, end))
            if question is not None:
                yield question


def believed(question: Question, first: Mapping[str, Any], second: Mapping[str, Any]) -> Extraction:
    """What two answers to one question say alike, and the sentence bears out."""
    if dict(first) != dict(second) or first.get("relation") in (None, NONE):
        return Extraction((), ())
    relation = str(first["relation"])
    for subject in question.names:
        for obj in question.names:
            told = question.sentence[slice(*subject)], question.sentence[slice(*obj)]
            if told == (first.get("subject"), first.get("object")) and _borne_out(question, relation, subject, obj):
                return _found(question, relation, subject, obj)
    return Extraction((), ())


def _question(sentence: Sentence) -> Question | None:
    names = []
    for match in _A_NAME.finditer(sentence.text):
        start, end = trimmed(sentence.text, *match.span())
        # "Ana Gil's daughter": the name ends before.
        end -= 2 if sentence.text[start:end].endswith(("'s", "’s")) else 0
        if any(may_be(kind, sentence.text[start:end]) for kind in ("person", "company", "place")):
            names.append((start, end))
    if not 2 <= len(names) <= _MOST_NAMES or not sentence.sure(len(sentence.text)) or _NOT.search(fold(sentence.text)):
        return None
    words = frozenset(re.findall(r"\w+", fold(sentence.text)))
    relations = tuple(relation for relation, cues in _cues().items() if cues & words)
    return Question(sentence.text, sentence.start, tuple(names), relations) if relations else None


def _borne_out(question: Question, relation: str, subject: tuple[int, int], obj: tuple[int, int]) -> bool:
    """Whether the relation's words stand between the two, and nobody else does."""
    begin, end = subject[1], obj[0]
    if begin >= end or any(begin <= start < end for start, _ in question.names):
        return False
    between = question.sentence[begin:end]
    if re.search(r"[,;:()]", between):
        return False
    return bool(_cues()[relation] & frozenset(re.findall(r"\w+", fold(between))))


def _found(question: Question, relation: str, subject: tuple[int, int], obj: tuple[int, int]) -> Extraction:
    before, after = RELATIONS[relation]
    ends = [_entity(question.sentence[slice(*subject)], before), _entity(question.sentence[slice(*obj)], after)]
    if ends[0] is None or ends[1] is None:
        return Extraction((), ())
    at = question.start
    named = (Named(ends[0], at + subject[0], at + subject[1]), Named(ends[1], at + obj[0], at + obj[1]))
    return Extraction(named, (Said(ends[0], relation, ends[1], at + subject[0], at + obj[1]),))


def _entity(name: str, kinds: frozenset[str]) -> Entity | None:
    """Who a name is, of the kinds that there may be; None where the name itself says otherwise."""
    kind: Kind = "company" if is_company(name) else "place" if is_place(name) else "person"
    if kind not in kinds:
        # A town that nobody knows, or a project, says nothing of itself; a person's name does not either.
        if kinds != {"place"} or kind == "company" or not may_be("place", name):
            return None
        kind = "place"
    return Entity(kind, name) if may_be(kind, name) else None


@cache
def _cues() -> dict[str, frozenset[str]]:
    told: dict[str, str] = yaml.safe_load(_CUES.read_text(encoding="utf-8"))
    return {relation: frozenset(words.split()) for relation, words in told.items()}
