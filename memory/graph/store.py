"""The graph of one database: what documents say is put in, counted, and taken out with its document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from memory.database import Database
from memory.documents.found import Entity, Extraction, Reading
from memory.graph.identity import Identity, Keys
from memory.graph.merging import Merging
from memory.graph.statements import count, make, sweep
from memory.text import fold

_KEYS = frozenset({"email", "phone", "website", "birthday"})


class GraphStore:
    """What changes the graph; ``memory.graph.look`` reads it."""

    def __init__(self, database: Database, merging: Merging) -> None:
        self._database = database
        self._identity = Identity(database)
        self._merging = merging

    def put(self, document: int, extractor: str, reading: Reading, found: Extraction) -> None:
        """Store what an extractor found in a document (a row), in place of what its versions before had found."""
        with self._database.transaction():
            before, nodes = self._named_in(document), self._nodes(document, found)
            touched = self._statements_of(document)
            for named in found.named:
                self._mention(nodes[named.entity], document, extractor, reading, named.start, named.end)
            for said in found.said:
                obj = nodes[said.object] if isinstance(said.object, Entity) else None
                value = None if isinstance(said.object, Entity) else said.object
                statement = make(self._database, nodes[said.subject], said.predicate, obj, value)
                place = _place(reading, said.start, said.end)
                self._database.run(
                    "INSERT OR IGNORE INTO evidence (statement, document, extractor, begins, ends, words, page, line)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (statement, document, extractor, *place),
                )
                touched.add(statement)
            family = extractor.partition("-")[0]
            for table in ("evidence", "mentions"):
                self._database.run(
                    f"DELETE FROM {table} WHERE document = ? AND extractor <> ? AND extractor LIKE ?",  # noqa: S608
                    (document, extractor, f"{family}-%"),
                )
            count(self._database, touched)
            sweep(self._database, touched, before | set(nodes.values()))

    def recount(self, documents: Iterable[int]) -> None:
        """Count anew what documents say that are in force now, or no longer are."""
        with self._database.transaction():
            for document in documents:
                count(self._database, self._statements_of(document))

    def drop(self, document: int) -> None:
        """Take out all that a document says, and whoever nothing else speaks of."""
        with self._database.transaction():
            touched, nodes = self._statements_of(document), self._named_in(document)
            self._database.run("DELETE FROM evidence WHERE document = ?", (document,))
            self._database.run("DELETE FROM mentions WHERE document = ?", (document,))
            self._merging.joins.forget(document)
            count(self._database, touched)
            sweep(self._database, touched, nodes)

    def _nodes(self, document: int, found: Extraction) -> dict[Entity, int]:
        """The node of each entity, made where there is none; two entities of one name are never one node."""
        keys: dict[Entity, dict[str, frozenset[str]]] = defaultdict(dict)
        for said in found.said:
            if said.predicate in _KEYS and isinstance(said.object, str):
                known = keys[said.subject]
                known[said.predicate] = known.get(said.predicate, frozenset()) | {said.object}
        entities = {named.entity: None for named in found.named}
        for said in found.said:
            entities |= {each: None for each in (said.subject, said.object) if isinstance(each, Entity)}
        nodes: dict[Entity, int] = {}
        # Those that are known by more than a name choose first.
        for entity in sorted(entities, key=lambda each: not keys.get(each)):
            nodes[entity] = self._node(entity, keys.get(entity, {}), document, nodes)
        return nodes

    def _node(self, entity: Entity, keys: Keys, document: int, taken: dict[Entity, int]) -> int:
        others = {
            node for other, node in taken.items() if (other.kind, fold(other.name)) == (entity.kind, fold(entity.name))
        }
        certain = [node for node in self._identity.candidates(entity, keys, document) if node not in others]
        if certain:
            kept, *same = certain
            for node in same if keys else ():
                # Whom this document names as two stays two; whom it has named by the one that goes is the other now.
                if not {kept, node} <= set(taken.values()) and self._merging.join_certain(kept, node):
                    taken.update({other: kept for other, known in taken.items() if known == node})
            return kept
        seq = self._database.insert(
            "INSERT INTO nodes (kind, name, name_key) VALUES (?, ?, ?)", (entity.kind, entity.name, fold(entity.name))
        )
        self._merging.joins.name((seq,))
        return seq

    def _mention(self, node: int, document: int, extractor: str, reading: Reading, start: int, end: int) -> None:
        self._database.run(
            "INSERT OR IGNORE INTO mentions (node, document, extractor, begins, ends, words, page, line)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (node, document, extractor, *_place(reading, start, end)),
        )

    def _named_in(self, document: int) -> set[int]:
        rows = self._database.rows("SELECT DISTINCT node FROM mentions WHERE document = ?", (document,))
        return {row["node"] for row in rows}

    def _statements_of(self, document: int) -> set[int]:
        rows = self._database.rows("SELECT DISTINCT statement FROM evidence WHERE document = ?", (document,))
        return {row["statement"] for row in rows}


def _place(reading: Reading, start: int, end: int) -> tuple[int, int, str, int | None, int]:
    return start, end, reading.text[start:end], reading.page(start), reading.line(start)
