"""Full-text search in a member's messages: what is in the index, and how what it finds is ranked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from configs.sections.memory import SearchSettings
from memory.database import Database, Row
from memory.processes import lives
from memory.text import INDEX_VERSION, Query, columns, marks_in, snippet

_NAME = "messages_text"
_LEFT = """
    SELECT m.id, m.writer FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id
    WHERE m.indexed = 0 AND m.content <> '' AND c.deleted_at IS NULL
"""


@dataclass(frozen=True)
class Match:
    """A found message; ``marks`` are (start, end) in ``snippet``, and a higher score is a better match."""

    message_id: str
    snippet: str
    score: float
    marks: tuple[tuple[int, int], ...]


class HistoryIndex:
    """The table ``messages_text`` beside ``messages``."""

    def __init__(self, database: Database, settings: SearchSettings) -> None:
        self._database = database
        self._settings = settings

    def catch_up(self) -> None:
        """Index what is missing: everything after a change of the code, and answers whose writer died."""
        known = self._database.value("SELECT version FROM index_versions WHERE name = ?", (_NAME,))
        if known != INDEX_VERSION:
            self._rebuild()
        left = self._database.rows(_LEFT)
        for row in left:
            # An answer that another process is writing right now is indexed by that process when it is finished.
            if row["writer"] is None or not lives(row["writer"]):
                self.add(row["id"])

    def add(self, message_id: str) -> None:
        """Index a message that is not in the index and will not change any more, unless it is deleted."""
        with self._database.transaction():
            row = self._database.row(
                "SELECT m.seq, m.content FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id"
                " WHERE m.id = ? AND m.indexed = 0 AND c.deleted_at IS NULL",
                (message_id,),
            )
            if row is not None:
                values = (row["seq"], *columns(row["content"]))
                self._database.run("INSERT INTO messages_text (rowid, exact, folded) VALUES (?, ?, ?)", values)
                self._database.run("UPDATE messages SET indexed = 1 WHERE seq = ?", (row["seq"],))

    def remove(self, message_id: str) -> None:
        """Take a message out of the index, if it is there."""
        rows = self._database.rows("SELECT seq, content FROM messages WHERE id = ? AND indexed = 1", (message_id,))
        self._remove(rows)

    def add_conversation(self, conversation_id: str) -> None:
        """Index all messages of a conversation that will not change any more."""
        with self._database.transaction():
            finished = "SELECT id FROM messages WHERE conversation_id = ? AND state <> 'partial'"
            for row in self._database.rows(finished, (conversation_id,)):
                self.add(row["id"])

    def remove_conversation(self, conversation_id: str) -> None:
        """Take all messages of a conversation out of the index."""
        values = (conversation_id,)
        self._remove(
            self._database.rows("SELECT seq, content FROM messages WHERE conversation_id = ? AND indexed = 1", values)
        )

    def compact(self) -> None:
        """Leave no word in the index that is only in messages that are gone.

        What is taken out of it is marked as such at first, and stays in its file until its parts are merged.
        """
        self._database.run("INSERT INTO messages_text (messages_text) VALUES ('optimize')")

    def search(self, text: str, limit: int) -> list[Match]:
        """At most ``limit`` messages that hold all words of ``text``; if there are none, those that hold any."""
        query = Query(text, longest=self._settings.query_characters, most_terms=self._settings.query_words)
        if not query.terms or limit < 1:
            return []
        tiers = (query.all_exact(), query.all_folded(), query.all_beginning(self._settings.prefix_characters))
        found: dict[str, Match] = {}
        for number, expression in enumerate(tiers):
            if expression and len(found) < limit:
                self._collect(found, query, expression, len(tiers) - number, limit)
        if not found and len(query.terms) > 1:
            self._collect(found, query, query.any_folded(), 0, limit)
        return list(found.values())[:limit]

    def marks(self, text: str, content: str) -> tuple[tuple[int, int], ...]:
        """Where the words of the search ``text`` stand in ``content``."""
        query = Query(text, longest=self._settings.query_characters, most_terms=self._settings.query_words)
        return marks_in(content, cache(lambda word: query.marked(word, self._settings.prefix_characters)))

    def _collect(self, found: dict[str, Match], query: Query, expression: str, tier: int, limit: int) -> None:
        # Nothing is joined before the limit: what is deleted is not in the index, and a common word has many matches.
        rows = self._database.rows(
            "SELECT m.id, m.content, best.rank FROM ("
            "  SELECT rowid, rank FROM messages_text WHERE messages_text MATCH ? ORDER BY rank LIMIT ?"
            ") AS best JOIN messages AS m ON m.seq = best.rowid ORDER BY best.rank, m.seq DESC",
            (expression, limit),
        )
        marked = cache(lambda word: query.marked(word, self._settings.prefix_characters))
        for row in rows:
            if row["id"] not in found:
                stretch, marks = snippet(row["content"], marked, width=self._settings.snippet_characters)
                # bm25() is negative, lower is better, and has no upper bound: squeezed into the tier it belongs to.
                relevance = -row["rank"] / (1 - row["rank"]) if row["rank"] < 0 else 0.0
                found[row["id"]] = Match(row["id"], stretch, tier + relevance, marks)

    def _remove(self, rows: list[Row]) -> None:
        with self._database.transaction():
            for row in rows:
                # A contentless table must be told the words that it once got (https://sqlite.org/fts5.html, 4.4.1).
                self._database.run(
                    "INSERT INTO messages_text (messages_text, rowid, exact, folded) VALUES ('delete', ?, ?, ?)",
                    (row["seq"], *columns(row["content"])),
                )
                self._database.run("UPDATE messages SET indexed = 0 WHERE seq = ?", (row["seq"],))

    def _rebuild(self) -> None:
        with self._database.transaction():
            self._database.run("INSERT INTO messages_text (messages_text) VALUES ('delete-all')")
            self._database.run("UPDATE messages SET indexed = 0")
            for row in self._database.rows("SELECT id FROM messages WHERE state <> 'partial'"):
                self.add(row["id"])
            self._database.run("INSERT OR REPLACE INTO index_versions VALUES (?, ?)", (_NAME, INDEX_VERSION))
