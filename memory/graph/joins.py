"""What was made one is on record, with the places that spoke of the one that went: so that it can be two again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from memory.clock import Clock
from memory.database import Database, Row
from memory.documents.errors import JoinUnknown
from memory.documents.found import Entity
from memory.graph.identity import names_of
from memory.graph.statements import count, make, sweep
from memory.graph.terms import SYMMETRIC
from memory.text import fold

# Document, predicate (empty where somebody is named), side, where it begins, and the value or the other end.
Place = tuple[int, str, str, int, str]
_Way = Literal["stays", "goes", "both"]
_PLACES = "SELECT document, said, side, begins, told FROM joined_places WHERE "
# A subject is looked at last: of two sisters who were one, the one that stayed is it then.
_SIDES: Final = ("object", "subject")
_SAID = (
    "SELECT s.subject, s.predicate, s.object, s.value, e.* FROM statements s"
    " JOIN evidence e ON e.statement = s.seq WHERE s.subject = ?1 OR s.object = ?1"
)
_NAMING = (
    "SELECT document FROM mentions WHERE node = ?1 UNION SELECT e.document FROM statements s"
    " JOIN evidence e ON e.statement = s.seq WHERE s.subject = ?1 OR s.object = ?1"
)


@dataclass(frozen=True)
class Join:
    """``kept``: the node (a row) that is both; ``name``: of the one that went; ``by``: a member, or none."""

    seq: int
    kept: int
    name: str
    by: str | None
    at: float


class Joins:
    """Of one database. Everything that changes it is to be called inside of a transaction."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def latest(self, most: int, node: int | None = None) -> list[Join]:
        """The last one first; of one node alone where it is given."""
        rows = self._database.rows(
            "SELECT * FROM node_joins WHERE ?1 IS NULL OR kept = ?1 ORDER BY seq DESC LIMIT ?2", (node, most)
        )
        return [Join(row["seq"], row["kept"], row["name"], row["joined_by"], row["joined_at"]) for row in rows]

    def note(self, kept: int, gone: int, member_id: str | None) -> int | None:
        """Put down all places that speak of the one that goes, before they are moved; None where there are none."""
        documents = [row["document"] for row in self._database.rows(_NAMING, (gone,))]
        if not documents:
            return None
        (name,) = self._database.rows("SELECT name FROM nodes WHERE seq = ?", (gone,))
        seq = self._database.insert(
            "INSERT INTO node_joins (kept, name, name_key, joined_by, joined_at) VALUES (?, ?, ?, ?, ?)",
            (kept, name["name"], fold(name["name"]), member_id, self._clock()),
        )
        # Of the documents of one lineage, which are versions of one another.
        self._database.run_many(
            "INSERT INTO joined_documents (joined, document, alone) SELECT ?2, ?3, NOT EXISTS"  # noqa: S608
            " (SELECT 1 FROM documents d JOIN documents v ON v.lineage = d.lineage"
            f" WHERE d.seq = ?3 AND v.seq IN ({_NAMING}))",
            [(kept, seq, document) for document in documents],
        )
        both = set(documents)
        told = [(seq, *place, False) for place in self._places(gone)]
        told += [(seq, *place, True) for place in self._places(kept) if place[0] in both]
        self._database.run_many(
            "INSERT INTO joined_places (joined, document, said, side, begins, told, stayed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            sorted(told),
        )
        self._database.run("UPDATE node_joins SET kept = ? WHERE kept = ?", (kept, gone))
        return seq

    def take_back(self, joined: int) -> tuple[int, int]:
        """Make two again of what was one: the one that stayed, and the one that is there again. Raises JoinUnknown.

        What a document said goes with whom it was said of. What a later version of it says goes where the earlier one's
        does, if that spoke of one of them alone; and what spoke of neither then stays.
        """
        row = self._database.row(
            "SELECT j.*, n.kind FROM node_joins j JOIN nodes n ON n.seq = j.kept WHERE j.seq = ?", (joined,)
        )
        if row is None:
            raise JoinUnknown(id=str(joined))
        kept = row["kept"]
        again = self._database.insert(
            "INSERT INTO nodes (kind, name, name_key) VALUES (?, ?, ?)", (row["kind"], row["name"], row["name_key"])
        )
        ways = _Ways(self._database, joined, kept)
        self._part_mentions(ways, kept, again)
        # Who was joined with that one before belongs to it again.
        self._database.run(
            "UPDATE node_joins SET kept = ?1 WHERE kept = ?2 AND seq < ?3 AND EXISTS (SELECT 1 FROM joined_places p"
            " JOIN mentions m ON m.document = p.document AND m.begins = p.begins"
            " WHERE p.joined = node_joins.seq AND p.said = '' AND m.node = ?1)",
            (again, kept, joined),
        )
        self._database.run(
            "INSERT OR IGNORE INTO nodes_apart (first, second, said_by, said_at)"
            " SELECT min(?1, other), max(?1, other), said_by, said_at FROM (SELECT *, first + second - ?2 AS other"
            " FROM nodes_apart WHERE joined = ?3)",
            (again, kept, joined),
        )
        self._part_statements(ways, kept, again)
        self._database.run("DELETE FROM node_joins WHERE seq = ?", (joined,))
        self.name((kept, again))
        sweep(self._database, (), (kept, again))
        return kept, again

    def forget(self, document: int) -> None:
        """Have nothing on record of what a document said, nor the name of whom no other one names."""
        self._database.run("DELETE FROM joined_documents WHERE document = ?", (document,))
        bare = "FROM node_joins WHERE NOT EXISTS (SELECT 1 FROM joined_documents d WHERE d.joined = node_joins.seq)"
        nodes = [row["kept"] for row in self._database.rows(f"SELECT kept {bare}")]
        self._database.run(f"DELETE {bare}")
        self.name(nodes)

    def name(self, nodes: Iterable[int]) -> None:
        """Have nodes be asked about by their names, and by those of whoever was joined with them."""
        for node in nodes:
            rows = self._database.rows(
                "SELECT kind, name FROM nodes WHERE seq = ?1 UNION"
                " SELECT n.kind, j.name FROM node_joins j JOIN nodes n ON n.seq = j.kept WHERE n.seq = ?1",
                (node,),
            )
            names = {name for row in rows for name in names_of(Entity(row["kind"], row["name"]))}
            self._database.run("DELETE FROM node_names WHERE node = ?", (node,))
            self._database.run_many(
                "INSERT INTO node_names (name, node) VALUES (?, ?)", [(name, node) for name in sorted(names)]
            )

    def _places(self, node: int) -> set[Place]:
        """Every place that speaks of a node."""
        rows = self._database.rows("SELECT document, begins FROM mentions WHERE node = ?", (node,))
        found: set[Place] = {(row["document"], "", "", row["begins"], "") for row in rows}
        for row in self._database.rows(_SAID, (node,)):
            found |= {_place(row, side) for side in _SIDES if row[side] == node}
        return found

    def _part_mentions(self, ways: _Ways, kept: int, again: int) -> None:
        for row in self._database.rows("SELECT * FROM mentions WHERE node = ?", (kept,)):
            way = ways.of((row["document"], "", "", row["begins"], ""))
            if way != "stays":
                self._database.run(
                    "INSERT OR IGNORE INTO mentions (node, document, extractor, begins, ends, words, page, line)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (again, *tuple(row)[1:]),
                )
            if way == "goes":
                self._database.run(
                    "DELETE FROM mentions WHERE node = ? AND document = ? AND extractor = ? AND begins = ?",
                    (kept, row["document"], row["extractor"], row["begins"]),
                )

    def _part_statements(self, ways: _Ways, kept: int, again: int) -> None:
        touched: set[int] = set()
        for row in self._database.rows(_SAID, (kept,)):
            subject, obj, both = _ends(row, ways, kept, again)
            if (subject, obj) == (row["subject"], row["object"]):
                continue
            statement = make(self._database, subject, row["predicate"], obj, row["value"])
            touched |= {row["statement"], statement}
            key = (row["statement"], row["document"], row["extractor"], row["begins"])
            self._database.run(
                "INSERT OR IGNORE INTO evidence (statement, document, extractor, begins, ends, words, page, line)"
                " SELECT ?5, document, extractor, begins, ends, words, page, line FROM evidence"
                " WHERE statement = ?1 AND document = ?2 AND extractor = ?3 AND begins = ?4",
                (*key, statement),
            )
            if not both:
                self._database.run(
                    "DELETE FROM evidence WHERE statement = ? AND document = ? AND extractor = ? AND begins = ?", key
                )
        count(self._database, touched)
        sweep(self._database, touched, ())


class _Ways:
    """Which of two that were one a place speaks of."""

    def __init__(self, database: Database, joined: int, kept: int) -> None:
        self._theirs, self._ours = (
            {_as_place(row) for row in database.rows(f"{_PLACES} joined = ? AND stayed = ?", (joined, stayed))}
            for stayed in (False, True)
        )
        others = f"{_PLACES} joined IN (SELECT seq FROM node_joins WHERE kept = ? AND seq <> ?) AND NOT stayed"  # noqa: S608
        self._others = {_as_place(row)[:4] for row in database.rows(others, (kept, joined))}
        rows = database.rows(
            "SELECT v.seq FROM joined_documents j JOIN documents d ON d.seq = j.document"
            " JOIN documents v ON v.lineage = d.lineage WHERE j.joined = ? AND j.alone",
            (joined,),
        )
        self._alone = {row["seq"] for row in rows}

    def of(self, place: Place) -> _Way:
        """With the one that is there again, with the one that stayed, or with both."""
        if place in self._theirs:
            return "both" if place in self._ours else "goes"
        if place in self._ours:
            return "stays"
        # The other end is another row by now; or it was not there yet.
        near = place[:4]
        theirs, ours = (any(near == each[:4] for each in known) for known in (self._theirs, self._ours))
        if theirs or ours:
            return "stays" if ours else "goes"
        return "goes" if place[0] in self._alone and near not in self._others else "stays"


def _ends(row: Row, ways: _Ways, kept: int, again: int) -> tuple[int, int | None, bool]:
    """Subject and object of what is said in one place, and whether it is said of the one that stayed too."""
    ends, both = {"subject": row["subject"], "object": row["object"]}, False
    for side in _SIDES:
        if row[side] != kept or again in ends.values():
            continue
        way = ways.of(_place(row, side))
        if way != "stays":
            ends[side], both = again, way == "both"
    return ends["subject"], ends["object"], both


def _place(row: Row, side: str) -> Place:
    """What is said in one place, seen from one of its two ends."""
    other = row["subject"] if side == "object" else row["object"]
    told = row["value"] if other is None else str(other)
    # Of what is the same from either end, either may be kept as the subject.
    return row["document"], row["predicate"], "" if row["predicate"] in SYMMETRIC else side, row["begins"], told


def _as_place(row: Row) -> Place:
    return row["document"], row["said"], row["side"], row["begins"], row["told"]
