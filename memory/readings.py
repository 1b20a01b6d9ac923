"""What a model found in a member's messages: kept, because another time it would find something else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from memory.clock import Clock
from memory.database import Database
from memory.extraction.reader import Found, Whom


@dataclass(frozen=True)
class Kept:
    """``found`` in the message ``message`` by ``reader`` (which model, with which instruction), at a time."""

    message: str
    reader: str
    found: tuple[Found, ...]
    at: float


class Readings:
    """The table ``readings`` of one member's file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def keep(self, message_id: str, reader: str, found: Iterable[Found]) -> None:
        """That ``reader`` has read a message, and what it found, nothing included."""
        written = json.dumps([asdict(each) for each in found], ensure_ascii=False)
        values = (message_id, reader, written, self._clock())
        self._database.run("INSERT OR REPLACE INTO readings (message, reader, found, at) VALUES (?, ?, ?, ?)", values)

    def of(self, message_id: str) -> Kept | None:
        row = self._database.row("SELECT * FROM readings WHERE message = ?", (message_id,))
        if row is None:
            return None
        found = tuple(Found(**{**each, "whom": Whom(**each["whom"])}) for each in json.loads(row["found"]))
        return Kept(row["message"], row["reader"], found, row["at"])

    def waiting(self, most: int) -> list[str]:
        """The latest messages of the member that no model has read, at most so many, the latest first."""
        rows = self._database.rows(
            "SELECT m.id FROM messages AS m LEFT JOIN readings AS r ON r.message = m.id"
            " WHERE m.role = 'user' AND r.message IS NULL ORDER BY m.seq DESC LIMIT ?",
            (most,),
        )
        return [row["id"] for row in rows]
