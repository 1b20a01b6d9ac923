"""Which file holds which document: what is new, changed, under another name, as it was once, or gone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from configs.sections.documents import DocumentsSettings
from memory.clock import Clock
from memory.database import Database, Row
from memory.documents.claims import Claim
from memory.documents.errors import DocumentForgotten, DocumentProblem, DocumentUnreadable
from memory.documents.files import Content, content_of, facts_of, walk
from memory.documents.formats import format_of
from memory.documents.sources import Source, Sources
from memory.graph.store import GraphStore
from memory.ids import new_id
from memory.text import storable


@dataclass(frozen=True)
class Seen:
    """What a look at all sources found: documents never seen before, files under another name, files that are gone."""

    new: int = 0
    moved: int = 0
    gone: int = 0


class Placing:
    """Of one database."""

    def __init__(
        self, database: Database, sources: Sources, graph: GraphStore, settings: DocumentsSettings, clock: Clock
    ) -> None:
        self._database = database
        self._sources = sources
        self._graph = graph
        self._settings = settings
        self._clock = clock

    def look(self) -> Seen:
        """See what is new, changed, renamed or gone. What changed is read again later, what was renamed is not."""
        counts = {"new": 0, "moved": 0, "gone": 0}
        for source in self._sources.list():
            root = Path(source.path)
            found = walk(root) if source.kind == "folder" else iter((root,))
            # A folder that is not there is one whose disk is unplugged: its files may come back.
            seen = {storable(str(path)): path for path in found}
            for path in seen.values():
                if (what := self.see(path, source)) in counts:
                    counts[what] += 1
            for row in self._database.rows(
                "SELECT path FROM document_places WHERE source = ? AND gone_at IS NULL", (source.path,)
            ):
                if row["path"] not in seen or facts_of(Path(row["path"])) is None:
                    values = (self._clock(), row["path"])
                    self._database.run("UPDATE document_places SET gone_at = ? WHERE path = ?", values)
                    counts["gone"] += 1
        return Seen(**counts)

    def see(self, path: Path, source: Source) -> str:
        """See one file: "new", "moved", "same", "back" (to a version before), "problem", "forgotten" or "gone"."""
        if storable(str(path)) != str(path):
            return self._unreadable(path, source, DocumentUnreadable(reason="its name is not in UTF-8"))
        known = self._database.row("SELECT * FROM document_places WHERE path = ?", (str(path),))
        forgotten = known is not None and _forgotten(known) and known["source"] == source.path
        settled = forgotten or (known is not None and known["document"] is not None and known["problem"] is None)
        try:
            facts = facts_of(path)
            if facts is None:
                return "gone"
            if settled and known is not None and known["gone_at"] is None and _same(known, facts):
                return "forgotten" if forgotten else "same"
            content = content_of(path, self._settings.largest_mb, self._settings.changing_tries)
        except DocumentProblem as problem:
            return "forgotten" if forgotten else self._unreadable(path, source, problem)
        if content is None:
            return "gone"
        # Whoever adds a file by itself wants it read, whatever was forgotten.
        if source.kind == "folder" and (forgotten or self._was_forgotten(content)):
            return self._pass_over(path, source, content)
        return self._place(path, source, content)

    def read(self, claim: Claim) -> Content | None:
        """The bytes of a claimed document; None where none of its files holds them any more, which is noted.

        Raises DocumentProblem.
        """
        for path in claim.places:
            content = content_of(path, self._settings.largest_mb, self._settings.changing_tries)
            if content is not None and content.sha256 == claim.sha256:
                return content
            row = self._database.row("SELECT source FROM document_places WHERE path = ?", (str(path),))
            source = next((each for each in self._sources.list() if row and each.path == row["source"]), None)
            if source is None:
                continue
            if content is None:
                values = (self._clock(), str(path))
                self._database.run("UPDATE document_places SET gone_at = ? WHERE path = ?", values)
            else:
                # It was changed since it was seen: what it is now is another document.
                self._place(path, source, content)
        return None

    def replace(self, document: int) -> None:
        """What the version before said is no longer so, unless a file holds it still."""
        old = self._database.value("SELECT replaces FROM documents WHERE seq = ?", (document,))
        if old is not None and not self._is_anywhere(old):
            values = (self._clock(), old)
            self._database.run("UPDATE documents SET replaced_at = ? WHERE seq = ? AND replaced_at IS NULL", values)
            self._graph.recount((old,))

    def _place(self, path: Path, source: Source, content: Content) -> str:
        """Put down what a file holds now."""
        form, facts = format_of(path), content.facts
        with self._database.transaction():
            self._database.run("DELETE FROM forgotten_documents WHERE sha256 = ?", (content.sha256,))
            before = self._database.row("SELECT document FROM document_places WHERE path = ?", (str(path),))
            known = self._database.row(
                "SELECT seq, replaced_at FROM documents WHERE sha256 = ? AND format = ?", (content.sha256, form)
            )
            old = before["document"] if before is not None else None
            if known is not None:
                document = known["seq"]
                what = "same" if old == document else self._moved(document, path)
            else:
                now = self._clock()
                document = self._database.insert(
                    "INSERT INTO documents (id, sha256, format, name, size, added_by, seen_at, replaces)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (new_id(now), content.sha256, form, path.name, facts.size, source.added_by, now, old),
                )
                self._database.run(
                    "UPDATE documents SET lineage = coalesce("
                    "(SELECT o.lineage FROM documents o WHERE o.seq = documents.replaces), seq) WHERE seq = ?",
                    (document,),
                )
                what = "new"
            self._database.run(
                "INSERT OR REPLACE INTO document_places"
                " (path, source, document, size, modified_ns, changed_ns, inode) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(path), source.path, document, facts.size, facts.modified_ns, facts.changed_ns, facts.inode),
            )
            if known is not None and old not in (None, document):
                what = self._come_back(document, old)
            self._database.run("UPDATE documents SET name = ? WHERE seq = ?", (path.name, document))
        return what

    def _was_forgotten(self, content: Content) -> bool:
        held = "SELECT 1 FROM forgotten_documents WHERE sha256 = ?"
        return self._database.row(held, (content.sha256,)) is not None

    def _pass_over(self, path: Path, source: Source, content: Content) -> str:
        """Leave a file unread that somebody wanted forgotten, and say so where it holds something else by now."""
        changed = None if self._was_forgotten(content) else DocumentForgotten(path=str(path))
        facts = content.facts
        self._database.run(
            "INSERT OR REPLACE INTO document_places (path, source, document, size, modified_ns, changed_ns, inode,"
            " problem, facts) VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)",
            (
                str(path), source.path, facts.size, facts.modified_ns, facts.changed_ns, facts.inode,
                changed and changed.code, json.dumps(changed.facts if changed else {}),
            ),
        )  # fmt: skip
        return "forgotten"

    def _moved(self, document: int, path: Path) -> str:
        """A file under a name that is new for what it holds; names of it that are gone are dropped."""
        for row in self._database.rows("SELECT path FROM document_places WHERE document = ?", (document,)):
            if row["path"] != str(path) and facts_of(Path(row["path"])) is None:
                self._database.run("DELETE FROM document_places WHERE path = ?", (row["path"],))
                return "moved"
        return "same"

    def _come_back(self, document: int, other: int) -> str:
        """A file holds again what it held once: that was read then, and is in force instead of what it held since."""
        self._database.run("UPDATE documents SET replaces = NULL WHERE seq = ? AND replaces = ?", (document, other))
        self._database.run("UPDATE documents SET replaced_at = NULL WHERE seq = ?", (document,))
        if not self._is_anywhere(other):
            self._database.run("UPDATE documents SET replaced_at = ? WHERE seq = ?", (self._clock(), other))
        self._graph.recount((document, other))
        return "back"

    def _is_anywhere(self, document: int) -> bool:
        held = "SELECT 1 FROM document_places WHERE document = ? AND gone_at IS NULL"
        return self._database.row(held, (document,)) is not None

    def _unreadable(self, path: Path, source: Source, problem: DocumentProblem) -> str:
        named = storable(str(path))
        with self._database.transaction():
            known = self._database.row("SELECT document FROM document_places WHERE path = ?", (named,))
            self._database.run(
                "INSERT OR REPLACE INTO document_places (path, source, document, size, modified_ns, changed_ns, inode,"
                " problem, facts) VALUES (?, ?, ?, 0, 0, 0, 0, ?, ?)",
                (named, source.path, known["document"] if known else None, problem.code, json.dumps(problem.facts)),
            )
        return "problem"


def _same(known: Row, facts: object) -> bool:
    return all(known[name] == getattr(facts, name) for name in ("size", "modified_ns", "changed_ns", "inode"))


def _forgotten(known: Row) -> bool:
    """Whether somebody wanted what the file held to be forgotten."""
    return known["document"] is None and known["problem"] in (None, DocumentForgotten.code)
