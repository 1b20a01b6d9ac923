"""Who reads a document right now: one process, until it has read it, gives it back, dies, or gives no sign of life."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.clock import Clock
from memory.database import Database, Row
from memory.documents.formats import Format
from memory.processes import lives, own_identity

# Of those that are to be read: there are never as many processes that each hold one.
_LOOKED_AT: Final = 100
_CLAIMABLE: Final = "SELECT d.*, c.holder, c.until FROM documents d LEFT JOIN document_claims c ON c.document = d.seq"
_UNREAD: Final = (
    "NOT EXISTS (SELECT 1 FROM document_reads r WHERE r.document = d.seq AND r.extractor = ?1)"
    " AND EXISTS (SELECT 1 FROM document_places p WHERE p.document = d.seq AND p.gone_at IS NULL)"
    " AND (?2 IS NULL OR (d.problem IS NULL AND EXISTS"
    "  (SELECT 1 FROM document_reads r WHERE r.document = d.seq AND r.extractor = ?2)))"
)


@dataclass(frozen=True)
class Claim:
    """One document, for one extractor. ``token``: whoever takes it over from this claim has another."""

    document: int
    id: str
    sha256: str
    format: Format
    name: str
    extractor: str
    token: str
    places: tuple[Path, ...]


class ClaimLost(Exception):
    """Another process has taken the document over; what was read is dropped."""


class Claims:
    """Those of one database."""

    def __init__(self, database: Database, lease_seconds: float, clock: Clock) -> None:
        self._database = database
        self._lease = lease_seconds
        self._clock = clock

    def claim(self, extractor: str, after: str | None = None, passed: Collection[int] = ()) -> Claim | None:
        """The first document that ``extractor`` has not read, nobody reads, and a file is there of; None for none.

        ``after``: an extractor that has to have read it before, and found it readable. ``passed``: documents (rows) to
        pass over.
        """
        with self._database.transaction():
            for row in self._database.rows(
                f"{_CLAIMABLE} WHERE {_UNREAD} ORDER BY d.seq LIMIT ?3", (extractor, after, _LOOKED_AT + len(passed))
            ):
                if row["seq"] not in passed and (row["holder"] is None or self._is_free(row["holder"], row["until"])):
                    return self._taken(row, extractor)
        return None

    def waiting(self, extractor: str, after: str | None = None) -> int:
        """How many documents ``claim`` would give, those too that somebody reads."""
        counting = f"SELECT count(*) FROM documents d WHERE {_UNREAD}"  # noqa: S608
        return int(self._database.value(counting, (extractor, after)))

    def renew(self, claim: Claim) -> None:
        """Give a sign of life. Raises ClaimLost."""
        values = (self._clock() + self._lease, claim.document, claim.token)
        if not self._database.run("UPDATE document_claims SET until = ? WHERE document = ? AND token = ?", values):
            raise ClaimLost

    def end(self, claim: Claim) -> None:
        """Have it no more, as the first step of a transaction that puts down what was read. Raises ClaimLost."""
        values = (claim.document, claim.token)
        if not self._database.run("DELETE FROM document_claims WHERE document = ? AND token = ?", values):
            raise ClaimLost

    def release(self, claim: Claim) -> None:
        """Give it back unread; one that was lost is another's."""
        values = (claim.document, claim.token)
        self._database.run("DELETE FROM document_claims WHERE document = ? AND token = ?", values)

    def held(self) -> frozenset[int]:
        """Documents (rows) that somebody reads right now."""
        rows = self._database.rows("SELECT document, holder, until FROM document_claims")
        return frozenset(row["document"] for row in rows if not self._is_free(row["holder"], row["until"]))

    def _is_free(self, holder: str, until: float) -> bool:
        # A clock that is set only makes it another's too early, and then what the first one reads is dropped.
        return not lives(holder) or self._clock() > until

    def _taken(self, row: Row, extractor: str) -> Claim:
        token = os.urandom(8).hex()
        self._database.run(
            "INSERT OR REPLACE INTO document_claims (document, extractor, token, holder, until) VALUES (?, ?, ?, ?, ?)",
            (row["seq"], extractor, token, own_identity(), self._clock() + self._lease),
        )
        places = self._database.rows(
            "SELECT path FROM document_places WHERE document = ? AND gone_at IS NULL ORDER BY path", (row["seq"],)
        )
        paths = tuple(Path(place["path"]) for place in places)
        return Claim(row["seq"], row["id"], row["sha256"], row["format"], row["name"], extractor, token, paths)
