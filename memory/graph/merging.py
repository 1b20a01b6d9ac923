"""Two nodes that are one: joined by themselves where that is certain, proposed where only the name says so."""

from __future__ import annotations

from dataclasses import dataclass

from memory.clock import Clock
from memory.database import Database
from memory.graph.joins import Joins
from memory.graph.statements import count, find
from memory.graph.terms import Kind


@dataclass(frozen=True)
class Proposal:
    """Two nodes of one name, by their rows."""

    kind: Kind
    name: str
    first: int
    second: int


class Merging:
    """Of one database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.joins = Joins(database, clock)

    def proposals(self, most: int) -> list[Proposal]:
        """Pairs of one name and kind of which nobody has said whether they are one, each with the first of its name."""
        rows = self._database.rows(
            "SELECT b.kind, b.name, b.seq AS second, (SELECT min(a.seq) FROM nodes_named a"
            "  WHERE a.name_key = b.name_key AND a.kind = b.kind AND a.seq < b.seq AND NOT EXISTS"
            "  (SELECT 1 FROM nodes_apart p WHERE p.first = a.seq AND p.second = b.seq)) AS first"
            " FROM nodes_named b WHERE first IS NOT NULL ORDER BY b.name_key, second LIMIT ?",
            (most,),
        )
        return [Proposal(row["kind"], row["name"], row["first"], row["second"]) for row in rows]

    def join(self, kept: int, gone: int, member_id: str | None = None) -> int | None:
        """Have all that is said of ``gone`` be said of ``kept``, under both names; by which ``take_back`` knows it."""
        with self._database.transaction():
            joined = self.joins.note(kept, gone, member_id)
            for row in self._database.rows("SELECT * FROM statements WHERE subject = ?1 OR object = ?1", (gone,)):
                subject = kept if row["subject"] == gone else row["subject"]
                obj = kept if row["object"] == gone else row["object"]
                self._move(row["seq"], subject, row["predicate"], obj, row["value"])
            self._database.run("UPDATE OR IGNORE mentions SET node = ? WHERE node = ?", (kept, gone))
            for mine, theirs in (("first", "second"), ("second", "first")):
                self._database.run(
                    f"INSERT OR IGNORE INTO nodes_apart (first, second, said_by, said_at, joined)"  # noqa: S608
                    f" SELECT min(?1, {theirs}), max(?1, {theirs}), said_by, said_at, ?3 FROM nodes_apart"
                    f" WHERE {mine} = ?2 AND {theirs} <> ?1",
                    (kept, gone, joined),
                )
            self._database.run("DELETE FROM nodes WHERE seq = ?", (gone,))
            self.joins.name((kept,))
        return joined

    def join_certain(self, kept: int, gone: int) -> bool:
        """The same, unless somebody said that they are two; whether they are one now."""
        certain = not self.apart(kept, gone)
        if certain:
            self.join(kept, gone)
        return certain

    def take_back(self, joined: int, member_id: str) -> None:
        """Make two again of what was made one, and remember that they are two. Raises JoinUnknown."""
        with self._database.transaction():
            two = self.joins.take_back(joined)
            # Of either of them nothing may be said any more.
            if all(self._database.row("SELECT 1 FROM nodes WHERE seq = ?", (each,)) for each in two):
                self.part(*two, member_id)

    def part(self, first: int, second: int, member_id: str) -> None:
        """Remember that two of one name are two."""
        low, high = sorted((first, second))
        self._database.run(
            "INSERT OR REPLACE INTO nodes_apart (first, second, said_by, said_at) VALUES (?, ?, ?, ?)",
            (low, high, member_id, self._clock()),
        )

    def apart(self, first: int, second: int) -> bool:
        """Whether somebody said that they are two."""
        pair = tuple(sorted((first, second)))
        return self._database.row("SELECT 1 FROM nodes_apart WHERE first = ? AND second = ?", pair) is not None

    def _move(self, statement: int, subject: int, predicate: str, obj: int | None, value: str | None) -> None:
        """Have a statement be about these; one that says the same is there once, with the evidence of both."""
        other = find(self._database, subject, predicate, obj, value, besides=statement)
        if other is None:
            self._database.run("UPDATE statements SET subject = ?, object = ? WHERE seq = ?", (subject, obj, statement))
            count(self._database, (statement,))
            return
        self._database.run("UPDATE OR IGNORE evidence SET statement = ? WHERE statement = ?", (other, statement))
        self._database.run("DELETE FROM statements WHERE seq = ?", (statement,))
        count(self._database, (other,))
