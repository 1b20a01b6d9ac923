"""Reading the graph as one member sees it: the family's, and their own; never another's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.database import Database, Row
from memory.documents.errors import NodeUnknown
from memory.graph.terms import Kind
from memory.text import fold, pieces, storable
from memory.visibility import Visibility

# A path between two is looked for no further than people would call it one.
LONGEST_PATH: Final = 6
_LAST: Final = "\U0010ffff"
_MOST_ON_THE_WAY: Final = 20_000

_REACH: Final = """
WITH RECURSIVE reach (node, depth) AS (
    SELECT ?1, 0
    UNION
    SELECT s.object, r.depth + 1 FROM reach r JOIN statements s ON s.subject = r.node
    WHERE r.depth < ?2 AND s.live > 0 AND s.object IS NOT NULL
    UNION
    SELECT s.subject, r.depth + 1 FROM reach r JOIN statements s ON s.object = r.node
    WHERE r.depth < ?2 AND s.live > 0 AND s.object IS NOT NULL
    LIMIT ?3
) SELECT node, min(depth) AS depth FROM reach GROUP BY node ORDER BY depth, node
"""


@dataclass(frozen=True)
class Node:
    """Somebody or something of one database. ``id``: "s12" in the family's, "p12" in the member's own."""

    visibility: Visibility
    seq: int
    kind: Kind
    name: str

    @property
    def id(self) -> str:
        return f"{self.visibility[0]}{self.seq}"


@dataclass(frozen=True)
class Evidence:
    """Where a document says something. ``words``: exactly as there; ``line``: on the page, if there are any."""

    document: str
    name: str
    words: str
    page: int | None
    line: int


@dataclass(frozen=True)
class Statement:
    """``object``: another node, or a text where it is told of the subject alone."""

    subject: Node
    predicate: str
    object: Node | str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Step:
    """An edge, as it is walked: from ``before`` to ``after``; ``turned``: it is said of ``after``."""

    before: Node
    predicate: str
    after: Node
    turned: bool


class Graph:
    """What ``databases`` hold, each by who may see it."""

    def __init__(self, databases: Mapping[Visibility, Database]) -> None:
        self._databases = databases

    def find(self, name: str) -> list[Node]:
        """Those who are called so, by their whole name or else by a shorter one, accents aside. Raises NodeUnknown."""
        wanted = fold(storable(name)).strip()
        for query, value in (
            ("SELECT * FROM nodes_named WHERE name_key = ? ORDER BY seq", wanted),
            (
                "SELECT n.* FROM node_names m JOIN nodes_named n ON n.seq = m.node WHERE m.name = ? ORDER BY n.seq",
                " ".join(pieces(wanted)),
            ),
        ):
            found = [node_of(seen, row) for seen, db in self._databases.items() for row in db.rows(query, (value,))]
            if found:
                return found
        if (node := self._by_id(name)) is not None:
            return [node]
        raise NodeUnknown(name=name)

    def node(self, visibility: Visibility, seq: int) -> Node:
        """The node in a row. Raises NodeUnknown."""
        row = self._databases[visibility].row("SELECT * FROM nodes WHERE seq = ?", (seq,))
        if row is None:
            raise NodeUnknown(name=f"{visibility[0]}{seq}")
        return node_of(visibility, row)

    def nodes(self, kind: Kind | None = None, most: int = 100) -> list[Node]:
        """Those of a kind, or all, by name."""
        found = [
            node_of(seen, row)
            for seen, database in self._databases.items()
            for row in database.rows(
                "SELECT * FROM nodes_named WHERE ?1 IS NULL OR kind = ?1 ORDER BY name_key, seq LIMIT ?2", (kind, most)
            )
        ]
        return sorted(found, key=lambda node: (fold(node.name), node.id))[:most]

    def named(self, text: str, most: int) -> list[Node]:
        """Those who may be asked about by a name that begins so, accents aside; for no text the first of all."""
        wanted = " ".join(pieces(fold(storable(text))))
        if not wanted:
            return self.nodes(most=most)
        found = [
            node_of(seen, row)
            for seen, database in self._databases.items()
            for row in database.rows(
                "SELECT * FROM nodes_named WHERE seq IN"
                " (SELECT node FROM node_names WHERE name >= ?1 AND name < ?2 LIMIT ?3) ORDER BY name_key, seq",
                (wanted, wanted + _LAST, most),
            )
        ]
        return sorted(found, key=lambda node: (fold(node.name), node.id))[:most]

    def said_in(self, visibility: Visibility, document_id: str, most: int) -> list[Statement]:
        """What a document says, in the order in which it does."""
        rows = self._databases[visibility].rows(
            "SELECT s.*, min(e.begins) AS first FROM documents d JOIN evidence e ON e.document = d.seq"
            " JOIN statements s ON s.seq = e.statement WHERE d.id = ? AND s.subject IS NOT s.object"
            " GROUP BY s.seq ORDER BY first LIMIT ?",
            (document_id, most),
        )
        return self._whole(visibility, rows)

    def statements(self, node: Node) -> list[Statement]:
        """All that documents in force say of a node, from either end."""
        database = self._databases[node.visibility]
        rows = database.rows(
            "SELECT * FROM statements WHERE live > 0 AND subject = ?1"
            " UNION SELECT * FROM statements WHERE live > 0 AND object = ?1 AND object IS NOT NULL"
            " ORDER BY predicate, seq",
            (node.seq,),
        )
        return self._whole(node.visibility, rows)

    def related(self, predicate: str, most: int) -> list[Statement]:
        """Statements by their predicate, the oldest first."""
        found: list[Statement] = []
        for seen, database in self._databases.items():
            rows = database.rows(
                "SELECT * FROM statements WHERE live > 0 AND predicate = ? ORDER BY seq LIMIT ?", (predicate, most)
            )
            found += self._whole(seen, rows)
        return found[:most]

    def reach(self, node: Node, hops: int, most: int) -> dict[int, int]:
        """Rows of the nodes within so many hops, the nearest first, each with how far it is; ``most`` are looked at."""
        rows = self._databases[node.visibility].rows(_REACH, (node.seq, hops, most))
        return {row["node"]: row["depth"] for row in rows}

    def around(self, node: Node, hops: int, most: int) -> list[Step]:
        """The edges that lead outwards from a node, those of the nearest nodes first; each node is reached once."""
        far = self.reach(node, hops, most)
        database = self._databases[node.visibility]
        known = {each.seq: each for each in self._known(node.visibility, far)}
        inside = json.dumps(list(far))
        rows = database.rows(
            "SELECT subject, predicate, object FROM statements WHERE live > 0 AND object IS NOT NULL"
            " AND subject IN (SELECT value FROM json_each(?1)) AND object IN (SELECT value FROM json_each(?1))"
            " ORDER BY seq",
            (inside,),
        )
        steps: dict[int, Step] = {}
        for row in sorted(rows, key=lambda row: min(far[row["subject"]], far[row["object"]])):
            for before, after, turned in (
                (row["subject"], row["object"], False),
                (row["object"], row["subject"], True),
            ):
                if far[after] == far[before] + 1 and after not in steps:
                    steps[after] = Step(known[before], row["predicate"], known[after], turned)
        return list(steps.values())

    def path(self, first: Node, last: Node) -> list[Step] | None:
        """The shortest way from one to the other, empty for the same one; None where there is none that is short."""
        if first.visibility != last.visibility:
            return None
        database = self._databases[first.visibility]
        came: dict[int, tuple[int, str, bool]] = {first.seq: (0, "", False)}
        front = [first.seq]
        for _ in range(LONGEST_PATH):
            if last.seq in came or not front or len(came) > _MOST_ON_THE_WAY:
                break
            after: list[int] = []
            for row in database.rows(
                "SELECT subject AS before, predicate, object AS after, 0 AS turned FROM statements WHERE live > 0"
                " AND object IS NOT NULL AND subject IN (SELECT value FROM json_each(?1)) UNION ALL"
                " SELECT object, predicate, subject, 1 FROM statements WHERE live > 0 AND object IS NOT NULL"
                " AND object IN (SELECT value FROM json_each(?1))",
                (json.dumps(front),),
            ):
                if row["after"] not in came:
                    came[row["after"]] = (row["before"], row["predicate"], bool(row["turned"]))
                    after.append(row["after"])
            front = after
        return self._steps(first, last, came)

    def _steps(self, first: Node, last: Node, came: Mapping[int, tuple[int, str, bool]]) -> list[Step] | None:
        if last.seq not in came:
            return None
        way, at = [], last.seq
        while at != first.seq:
            before, predicate, turned = came[at]
            way.append((before, predicate, at, turned))
            at = before
        seqs = {seq for step in way for seq in (step[0], step[2])}
        known = {node.seq: node for node in self._known(first.visibility, seqs)}
        return [
            Step(known[before], predicate, known[after], turned) for before, predicate, after, turned in reversed(way)
        ]

    def _by_id(self, name: str) -> Node | None:
        for seen, database in self._databases.items():
            digits = name.strip().removeprefix(seen[0])
            if name.strip() == f"{seen[0]}{digits}" and digits.isascii() and digits.isdigit() and len(digits) < 16:
                row = database.row("SELECT * FROM nodes WHERE seq = ?", (int(digits),))
                return node_of(seen, row) if row is not None else None
        return None

    def _known(self, visibility: Visibility, seqs: Iterable[int]) -> list[Node]:
        rows = self._databases[visibility].rows(
            "SELECT * FROM nodes WHERE seq IN (SELECT value FROM json_each(?))", (json.dumps(list(seqs)),)
        )
        return [node_of(visibility, row) for row in rows]

    def _whole(self, visibility: Visibility, rows: list[Row]) -> list[Statement]:
        """Statements with their ends and where they are said."""
        ends = {row[name] for row in rows for name in ("subject", "object") if row[name] is not None}
        known = {node.seq: node for node in self._known(visibility, ends)}
        evidence: dict[int, list[Evidence]] = {}
        for row in self._databases[visibility].rows(
            "SELECT e.*, d.id, d.name FROM evidence e JOIN documents d ON d.seq = e.document"
            " WHERE d.replaced_at IS NULL AND e.statement IN (SELECT value FROM json_each(?))"
            " ORDER BY e.statement, d.seq, e.begins",
            (json.dumps([row["seq"] for row in rows]),),
        ):
            found = Evidence(row["id"], row["name"], row["words"], row["page"], row["line"])
            evidence.setdefault(row["statement"], []).append(found)
        return [
            Statement(
                known[row["subject"]],
                row["predicate"],
                known[row["object"]] if row["object"] is not None else row["value"],
                tuple(evidence.get(row["seq"], ())),
            )
            for row in rows
        ]


def node_of(visibility: Visibility, row: Row) -> Node:
    """The node in a row of the table."""
    return Node(visibility, row["seq"], row["kind"], row["name"])
