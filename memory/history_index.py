"""Full-text search in a member's messages: what is in the index."""

from __future__ import annotations

from memory.database import Database, Row
from memory.history_search import terms_of
from memory.processes import lives
from memory.text import INDEX_VERSION, columns
from memory.wording import read_lexicon

_NAME = "messages_text"
_LEFT = """
    SELECT m.id, m.writer FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id
    WHERE m.indexed = 0 AND m.content <> '' AND c.deleted_at IS NULL
"""


class HistoryIndex:
    """The table ``messages_text`` beside ``messages``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def catch_up(self) -> None:
        """Index what is missing: everything after a change of the code, and answers whose writer died."""
        known = self._database.value("SELECT version FROM index_versions WHERE name = ?", (_NAME,))
        if known != _version():
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
                values = (row["seq"], *_columns(row["content"]))
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

    def _remove(self, rows: list[Row]) -> None:
        with self._database.transaction():
            for row in rows:
                # A contentless table must be told the words that it once got (https://sqlite.org/fts5.html, 4.4.1).
                self._database.run(
                    "INSERT INTO messages_text (messages_text, rowid, exact, folded) VALUES ('delete', ?, ?, ?)",
                    (row["seq"], *_columns(row["content"])),
                )
                self._database.run("UPDATE messages SET indexed = 0 WHERE seq = ?", (row["seq"],))

    def _rebuild(self) -> None:
        with self._database.transaction():
            self._database.run("INSERT INTO messages_text (messages_text) VALUES ('delete-all')")
            self._database.run("UPDATE messages SET indexed = 0")
            for row in self._database.rows("SELECT id FROM messages WHERE state <> 'partial'"):
                self.add(row["id"])
            self._database.run("INSERT OR REPLACE INTO index_versions VALUES (?, ?)", (_NAME, _version()))


def _version() -> str:
    """Of how words are cut, and of what they are about."""
    return f"{INDEX_VERSION}:{read_lexicon().version}"


def _columns(text: str) -> tuple[str, str]:
    """What the index holds of a message: (exact, folded)."""
    exact, folded = columns(text)
    return exact, f"{folded} {terms_of(text)}"
