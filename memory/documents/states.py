"""How it stands with each document, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from configs.errors import Fact
from memory.database import Database, Row
from memory.documents.claims import Claims
from memory.documents.extracting.extract import RULES_VERSION
from memory.documents.formats import format_of
from memory.documents.found import Remark
from memory.visibility import Visibility

State = Literal["waiting", "reading", "read", "problem", "replaced"]


@dataclass(frozen=True)
class DocumentState:
    """How it stands with a document. ``paths``: where its files are; ``gone``: none of them is there any more.

    ``read_by``: the extractors that have read it; ``problem``: code and facts of why it could not be read.
    """

    id: str
    name: str
    format: str
    visibility: Visibility
    state: State
    paths: tuple[str, ...]
    gone: bool
    added_by: str
    statements: int
    read_by: tuple[str, ...]
    problem: str | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


DocumentStates = list[DocumentState]  # inside the class, `list` is its method
_Rows = list[Row]
_Names = list[str]


class States:
    """Of one database."""

    def __init__(self, database: Database, visibility: Visibility, claims: Claims) -> None:
        self._database = database
        self._visibility = visibility
        self._claims = claims

    def list(self) -> DocumentStates:
        """Every document, those that are read last first; those that another version replaced too."""
        held = self._claims.held()
        places: dict[int, list[Row]] = {}
        for row in self._database.rows("SELECT * FROM document_places WHERE document IS NOT NULL ORDER BY path"):
            places.setdefault(row["document"], []).append(row)
        reads: dict[int, list[str]] = {}
        for row in self._database.rows("SELECT document, extractor FROM document_reads ORDER BY extractor"):
            reads.setdefault(row["document"], []).append(row["extractor"])
        counted = {
            row["document"]: row["number"]
            for row in self._database.rows(
                "SELECT e.document, count(DISTINCT e.statement) AS number FROM evidence e"
                " JOIN statements s ON s.seq = e.statement WHERE s.subject IS NOT s.object GROUP BY e.document"
            )
        }
        found = [
            self._state(row, places.get(row["seq"], []), reads.get(row["seq"], []), counted, held)
            for row in self._database.rows("SELECT * FROM documents ORDER BY seq DESC")
        ]
        return [*self._out_of_reach(), *found]

    def _out_of_reach(self) -> Iterable[DocumentState]:
        """Files of which not even the content is known."""
        for row in self._database.rows(
            "SELECT p.*, s.added_by FROM document_places p JOIN document_sources s ON s.path = p.source"
            " WHERE p.problem IS NOT NULL ORDER BY p.path"
        ):
            path = Path(row["path"])
            facts: dict[str, Any] = json.loads(row["facts"])
            yield DocumentState(
                "", path.name, format_of(path) or "", self._visibility, "problem", (row["path"],), False,
                row["added_by"], 0, (), row["problem"], facts,
            )  # fmt: skip

    def _state(
        self, row: Row, places: _Rows, reads: _Names, counted: dict[int, int], held: frozenset[int]
    ) -> DocumentState:
        state: State = "read" if RULES_VERSION in reads else "waiting"
        if row["replaced_at"] is not None:
            state = "replaced"
        elif row["problem"] is not None:
            state = "problem"
        elif row["seq"] in held:
            state = "reading"
        remarks = tuple(Remark(code, facts) for code, facts in json.loads(row["remarks"]))
        return DocumentState(
            row["id"], row["name"], row["format"], self._visibility, state,
            tuple(place["path"] for place in places if place["gone_at"] is None),
            all(place["gone_at"] is not None for place in places), row["added_by"], counted.get(row["seq"], 0),
            tuple(reads), row["problem"], json.loads(row["facts"]), remarks,
        )  # fmt: skip
