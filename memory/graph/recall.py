"""What documents say of those whom a question names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from configs.sections.documents import DocumentsSettings
from memory.database import Database
from memory.documents.extracting.names import words_of
from memory.graph.look import Graph, Node, Statement, node_of
from memory.text import fold, storable
from memory.visibility import Visibility

_ASKED: Final = Path(__file__).resolve().parents[1] / "data" / "asked.yaml"
# In words: a longer run of them is no name, and would only make the query longer.
_LONGEST_NAME: Final = 6
_WORDS: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class RecalledStatement:
    """``score``: how surely the question is about it, 0 to 1. Its evidence names the document that says so."""

    statement: Statement
    score: float


class GraphRecall:
    """What one member may be reminded of: of what ``databases`` hold, each by who may see it."""

    def __init__(self, databases: Mapping[Visibility, Database], settings: DocumentsSettings) -> None:
        self._databases = databases
        self._settings = settings
        self._graph = Graph(databases)

    def about(self, question: str, most: int) -> list[RecalledStatement]:
        """Statements about whoever the question names, those first that it asks for; none where it names nobody.

        A single word counts as a name only where it is written as one: a rose is nobody.
        """
        asked = frozenset(_WORDS.findall(fold(storable(question))))
        found: dict[tuple[Visibility, int, str, str], RecalledStatement] = {}
        named = self.named(question)
        ids = {node.id for node, _ in named}
        for node, length in named:
            for statement in self._graph.statements(node):
                score = self._score(statement, node, length, asked, ids)
                key = (node.visibility, statement.subject.seq, statement.predicate, _told(statement))
                if score > 0 and (key not in found or found[key].score < score):
                    found[key] = RecalledStatement(statement, score)
        return sorted(found.values(), key=lambda each: -each.score)[:most]

    def named(self, question: str) -> list[tuple[Node, int]]:
        """The nodes that a question names, each with how many words of it do so; of one word two readings are none."""
        names = dict(_names(storable(question)))
        if not names:
            return []
        found: list[tuple[Node, int]] = []
        wanted = json.dumps(list(names))
        for seen, database in self._databases.items():
            rows = database.rows(
                "SELECT n.*, m.name AS called FROM node_names m JOIN nodes_named n ON n.seq = m.node"
                " WHERE m.name IN (SELECT value FROM json_each(?)) ORDER BY length(m.name) DESC, n.seq LIMIT ?",
                (wanted, self._settings.recalled_names),
            )
            found += [(node_of(seen, row), names[row["called"]]) for row in rows]
        longest: dict[str, tuple[Node, int]] = {}
        for node, length in found:
            if node.id not in longest or longest[node.id][1] < length:
                longest[node.id] = (node, length)
        # "Marta Ruiz" is not every Marta.
        most = max((length for _, length in longest.values()), default=0)
        return [(node, length) for node, length in longest.values() if length == most or length > 1]

    def _score(self, statement: Statement, node: Node, length: int, asked: frozenset[str], named: set[str]) -> float:
        words = frozenset(_WORDS.findall(fold(node.name)))
        sure = min(1.0, length / max(1, min(len(words), 2)))
        wordings = _wordings().get(statement.predicate, frozenset())
        both = not isinstance(statement.object, str) and {statement.subject.id, statement.object.id} <= named
        if not (wordings & asked or both):
            return sure * self._settings.recalled_unasked
        # "What shall I give Ana Gil for her new job?" asks for something else.
        other = {word for word in asked - words - wordings - words_of("starts") if len(word) > 1}
        if not isinstance(statement.object, str):
            other -= set(_WORDS.findall(fold(f"{statement.subject.name} {statement.object.name}")))
        return sure * (self._settings.recalled_aside if other else 1.0)


@cache
def _wordings() -> dict[str, frozenset[str]]:
    """The words of a question by which each predicate is asked for."""
    told: dict[str, str] = yaml.safe_load(_ASKED.read_text(encoding="utf-8"))
    return {predicate: frozenset(words.split()) for predicate, words in told.items()}


def _told(statement: Statement) -> str:
    return statement.object if isinstance(statement.object, str) else statement.object.id


def _names(question: str) -> Iterator[tuple[str, int]]:
    """Every run of words that may be a name, folded, with how many words it has."""
    words = list(_WORDS.finditer(question))
    for first in range(len(words)):
        for last in range(first, min(first + _LONGEST_NAME, len(words))):
            written = question[words[first].start() : words[last].end()]
            if first == last and not written[0].isupper():
                continue
            yield " ".join(_WORDS.findall(fold(written))), last - first + 1
