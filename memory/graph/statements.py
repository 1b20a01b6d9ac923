"""Statements of one database: each there once, counted by the places that say it, and gone when none does."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memory.database import Database
from memory.graph.terms import SYMMETRIC


def find(
    database: Database, subject: int, predicate: str, obj: int | None, value: str | None, besides: int = 0
) -> int | None:
    """The statement (a row) that says this of these nodes, from either end where both say the same; ``besides`` one."""
    turned = (obj, subject) if predicate in SYMMETRIC and obj is not None else (subject, obj)
    for first, last in dict.fromkeys([(subject, obj), turned]):
        found = database.value(
            "SELECT seq FROM statements WHERE subject = ? AND predicate = ? AND coalesce(object, 0) = ?"
            " AND coalesce(value, '') = ? AND seq <> ?",
            (first, predicate, last or 0, value or "", besides),
        )
        if found is not None:
            return int(found)
    return None


def make(database: Database, subject: int, predicate: str, obj: int | None, value: str | None) -> int:
    """The same, made where there is none."""
    found = find(database, subject, predicate, obj, value)
    if found is not None:
        return found
    return database.insert(
        "INSERT INTO statements (subject, predicate, object, value) VALUES (?, ?, ?, ?)",
        (subject, predicate, obj, value),
    )


def count(database: Database, statements: Iterable[int]) -> None:
    """Count anew by how many places of documents in force statements are made.

    What two said of each other who are one now waits uncounted for the day on which they are two again.
    """
    database.run(
        "UPDATE statements SET live = CASE WHEN subject IS object THEN 0 ELSE"
        " (SELECT count(*) FROM evidence e JOIN documents d ON d.seq = e.document"
        " WHERE e.statement = statements.seq AND d.replaced_at IS NULL) END"
        " WHERE seq IN (SELECT value FROM json_each(?))",
        (json.dumps(list(statements)),),
    )


def sweep(database: Database, statements: Iterable[int], nodes: Iterable[int]) -> None:
    """Drop the statements that no document makes, and the nodes that none names."""
    wanted = json.dumps(list(statements))
    ends = database.rows(
        "SELECT subject, object FROM statements WHERE seq IN (SELECT value FROM json_each(?))", (wanted,)
    )
    database.run(
        "DELETE FROM statements WHERE seq IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.statement = statements.seq)",
        (wanted,),
    )
    about = {row[name] for row in ends for name in ("subject", "object") if row[name] is not None} | set(nodes)
    database.run(
        "DELETE FROM nodes WHERE seq IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.node = nodes.seq)"
        " AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.subject = nodes.seq)"
        " AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.object = nodes.seq)",
        (json.dumps(list(about)),),
    )
