"""What people did with facts, in the order in which they did it: kept as it happened, and never changed.

Facts are made of what was said and of these; whatever is made anew comes out the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memory.database import Database, Row
from memory.ids import new_id

ActKind = Literal["add", "edit", "forget", "undo", "restore", "share", "unshare", "purge"]


@dataclass(frozen=True)
class Act:
    """``member`` did ``kind`` to the fact ``fact``. ``said``: the words, for "add" and "edit"."""

    id: str
    fact: str
    member: str
    kind: ActKind
    said: Mapping[str, Any]
    at: float


_OF_FACT: Final = "FROM fact_acts WHERE fact = ?1 OR (kind IN ('add', 'edit') AND json_extract(said, '$.id') = ?1)"
Taken = list[Act]  # inside the class, `list` is its method


class Acts:
    """The table ``fact_acts`` of one file: of the facts that are in it, or were."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, fact: str, member: str, kind: ActKind, at: float, said: Mapping[str, Any] | None = None) -> Act:
        act = Act(new_id(at), fact, member, kind, dict(said or {}), at)
        self.keep([act])
        return act

    def list(self) -> list[Act]:
        """All of them, the first one first."""
        return [_act(row) for row in self._database.rows("SELECT * FROM fact_acts ORDER BY at, id")]

    def take(self, fact: str) -> Taken:
        """The acts on a fact and the one that it came from, out of this file."""
        with self._database.transaction():
            taken = [_act(row) for row in self._database.rows(f"SELECT * {_OF_FACT}", (fact,))]
            self._database.run(f"DELETE {_OF_FACT}", (fact,))
        return taken

    def keep(self, acts: Iterable[Act]) -> None:
        """Store acts that were in another file."""
        self._database.run_many(
            "INSERT OR IGNORE INTO fact_acts (id, fact, member, kind, said, at) VALUES (?, ?, ?, ?, ?, ?)",
            [(act.id, act.fact, act.member, act.kind, _written(act.said), act.at) for act in acts],
        )

    def clear(self, fact: str) -> None:
        """Take away what was said in the acts on a fact that is removed for good."""
        self._database.run(
            "UPDATE fact_acts SET said = '{}' WHERE fact = ?1 OR (kind = 'edit' AND json_extract(said, '$.id') = ?1)",
            (fact,),
        )


def _written(said: Mapping[str, Any]) -> str:
    return json.dumps(dict(said), ensure_ascii=False)


def _act(row: Row) -> Act:
    return Act(row["id"], row["fact"], row["member"], row["kind"], json.loads(row["said"]), row["at"])
