"""The documents of one database, the family's or a member's: which there are, and what reading each of them gave."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from configs.sections.documents import DocumentsSettings
from memory.clock import Clock
from memory.database import Database
from memory.documents.claims import Claim, Claims
from memory.documents.errors import DocumentChanging, DocumentProblem, DocumentUnreadable, ReaderMissing
from memory.documents.found import Extraction, Reading
from memory.documents.placing import Placing
from memory.documents.sources import Sources
from memory.documents.states import States
from memory.graph.merging import Merging
from memory.graph.store import GraphStore
from memory.text import storable
from memory.visibility import Visibility


class Shelf:
    """Of one file. What is read is stored with the ledger's entry that says so, in one transaction."""

    def __init__(self, database: Database, visibility: Visibility, settings: DocumentsSettings, clock: Clock) -> None:
        self.database = database
        self.visibility = visibility
        self.sources = Sources(database, visibility, clock)
        self.claims = Claims(database, settings.lease_seconds, clock)
        self.states = States(database, visibility, self.claims)
        self.merging = Merging(database, clock)
        self.graph = GraphStore(database, self.merging)
        self.placing = Placing(database, self.sources, self.graph, settings, clock)
        self._clock = clock

    def finish(self, claim: Claim, reading: Reading, found: Extraction) -> None:
        """Put down what was read, and that it was. Raises ClaimLost: then nothing is."""
        with self.database.transaction():
            self.claims.end(claim)
            self.graph.put(claim.document, claim.extractor, reading, found)
            self._note_read(claim, len(found.said))
            remarks = json.dumps([[remark.code, remark.facts] for remark in reading.remarks])
            self.database.run(
                "UPDATE documents SET problem = NULL, facts = '{}', remarks = ? WHERE seq = ?",
                (remarks, claim.document),
            )
            self.placing.replace(claim.document)

    def fail(self, claim: Claim, problem: DocumentProblem) -> None:
        """Put down why it cannot be read. One that nothing is wrong with stays to be read. Raises ClaimLost."""
        with self.database.transaction():
            self.claims.end(claim)
            if not isinstance(problem, DocumentUnreadable | DocumentChanging | ReaderMissing):
                self._note_read(claim, 0)
            values = (problem.code, json.dumps(problem.facts), claim.document)
            self.database.run("UPDATE documents SET problem = ?, facts = ? WHERE seq = ?", values)

    def remove(self, document_id: str) -> bool:
        """Forget a document: its files are watched no more, and all that was derived from it goes. False for none.

        What its files held before goes with it. In a folder that is watched they are passed over, whatever they hold
        later, and so is any file that holds the same, until one is added by itself.
        """
        with self.database.transaction():
            row = self.database.row("SELECT seq FROM documents WHERE id = ?", (document_id,))
            if row is not None:
                versions = self.database.rows(
                    "SELECT v.sha256 FROM documents d JOIN documents v ON v.seq = d.seq OR v.lineage = d.lineage"
                    " WHERE d.seq = ?",
                    (row["seq"],),
                )
                self.database.run(
                    "UPDATE document_places SET document = NULL WHERE document = ? AND gone_at IS NULL"
                    " AND source IN (SELECT path FROM document_sources WHERE kind = 'folder')",
                    (row["seq"],),
                )
                self._drop([row["seq"]])
                # A version that another file still holds is not forgotten.
                self.database.run_many(
                    "INSERT OR REPLACE INTO forgotten_documents (sha256, forgotten_at) SELECT ?1, ?2"
                    " WHERE NOT EXISTS (SELECT 1 FROM documents WHERE sha256 = ?1)",
                    [(version["sha256"], self._clock()) for version in versions],
                )
        return row is not None

    def unwatch(self, path: Path) -> int:
        """Watch a file or folder no more, and forget the documents that were there alone; how many."""
        with self.database.transaction():
            rows = self.database.rows(
                "SELECT DISTINCT document FROM document_places p WHERE source = ?1 AND document IS NOT NULL"
                " AND NOT EXISTS (SELECT 1 FROM document_places o WHERE o.document = p.document AND o.source <> ?1)",
                (storable(str(path)),),
            )
            self._drop([row["document"] for row in rows])
            self.database.run("DELETE FROM document_sources WHERE path = ?", (storable(str(path)),))
        return len(rows)

    def remove_of(self, member_id: str) -> None:
        """Forget everything that a member has added."""
        for source in self.sources.list():
            if source.added_by == member_id:
                self.unwatch(Path(source.path))
        # What lies in another's folder too is found there again, as theirs.
        self._drop(
            [row["seq"] for row in self.database.rows("SELECT seq FROM documents WHERE added_by = ?", (member_id,))]
        )

    def _drop(self, documents: Iterable[int]) -> None:
        """Forget documents (rows), and the versions of them that no file holds any more."""
        for document in documents:
            others = self.database.rows(
                "SELECT seq FROM documents d WHERE seq <> ?1 AND lineage ="
                " (SELECT o.lineage FROM documents o WHERE o.seq = ?1)"
                " AND NOT EXISTS (SELECT 1 FROM document_places p WHERE p.document = d.seq)",
                (document,),
            )
            for each in (document, *(row["seq"] for row in others)):
                self.graph.drop(each)
                self.database.run(
                    "DELETE FROM document_sources WHERE kind = 'file' AND path IN"
                    " (SELECT path FROM document_places WHERE document = ?)",
                    (each,),
                )
                self.database.run("DELETE FROM documents WHERE seq = ?", (each,))

    def _note_read(self, claim: Claim, statements: int) -> None:
        self.database.run(
            "INSERT INTO document_reads (document, extractor, read_at, statements) VALUES (?, ?, ?, ?)",
            (claim.document, claim.extractor, self._clock(), statements),
        )
