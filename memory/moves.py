"""Every move of the current snapshot from one to another, for good."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory.database import Database
from memory.numbered import number_in
from memory.text import storable

Kind = Literal["promote", "rollback"]


@dataclass(frozen=True)
class Move:
    """The current snapshot went from ``previous`` to ``snapshot``; ``undone``: a rollback went back over it.

    ``evidence``: the numbers for which it was made by itself (``memory.probation``); None where somebody made it.
    """

    kind: Kind
    snapshot: str
    previous: str | None
    who: str
    why: str
    at: float
    undone: bool
    evidence: dict[str, Any] | None = None


def read_moves(family: Database) -> list[Move]:
    """The newest first."""
    return [
        Move(
            row["kind"],
            f"v{row['number']}",
            None if row["previous"] is None else f"v{row['previous']}",
            row["who"],
            row["why"],
            row["at"],
            bool(row["undone"]),
            None if row["evidence"] is None else json.loads(row["evidence"]),
        )
        for row in family.rows("SELECT * FROM moves ORDER BY seq DESC")
    ]


def add_move(
    family: Database,
    kind: Kind,
    snapshot: str,
    previous: int | None,
    *,
    who: str,
    why: str,
    at: float,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Put one on record; ``previous``: a snapshot's number."""
    family.run(
        "INSERT INTO moves (kind, number, previous, who, why, at, evidence) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (kind, number_in(snapshot, "v"), previous, storable(who), storable(why), at, evidence and json.dumps(evidence)),
    )
