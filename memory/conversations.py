"""A member's conversations as a list: started, named, deleted, restored, and removed for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from configs.sections.memory import MemorySettings
from memory.clock import Clock
from memory.database import Database, Row
from memory.errors import ConversationUnknown
from memory.history_index import HistoryIndex
from memory.history_search import HistorySearch
from memory.ids import new_id
from memory.text import storable


@dataclass(frozen=True)
class Conversation:
    """Times in seconds since 1970; ``deleted_at`` is set while it can still be restored."""

    id: str
    title: str
    created_at: float
    updated_at: float
    deleted_at: float | None = None


class Conversations:
    """The conversations in one member's file."""

    def __init__(self, database: Database, settings: MemorySettings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._index = HistoryIndex(database)
        self._search = HistorySearch(database, settings.search)
        self._index.catch_up()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Everything that is stored inside is stored together, or nothing is."""
        with self._database.transaction():
            yield

    def start(self, title: str = "") -> Conversation:
        """A new, empty conversation; an empty title is filled from its first question."""
        now = self._clock()
        conversation = Conversation(new_id(now), self._title(title), now, now)
        self._database.run(
            "INSERT INTO conversations (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)",
            (conversation.id, conversation.title, now, now),
        )
        return conversation

    def list(self, limit: int = 50, offset: int = 0, *, deleted: bool = False) -> list[Conversation]:
        """Conversations, the last used first; with ``deleted`` those that can be restored."""
        rows = self._database.rows(
            "SELECT * FROM conversations WHERE (deleted_at IS NOT NULL) = ?"
            " ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?",
            (deleted, limit, offset),
        )
        return [_conversation(row) for row in rows]

    def count(self) -> int:
        """How many there are, deleted ones aside."""
        number: int = self._database.value("SELECT count(*) FROM conversations WHERE deleted_at IS NULL")
        return number

    def get(self, conversation_id: str) -> Conversation:
        """A conversation, deleted ones too. Raises ConversationUnknown."""
        row = self._database.row("SELECT * FROM conversations WHERE id = ?", (storable(conversation_id),))
        if row is None:
            raise ConversationUnknown(id=conversation_id)
        return _conversation(row)

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """The conversation under another title. Raises ConversationUnknown."""
        self.get(conversation_id)
        self._database.run("UPDATE conversations SET title = ? WHERE id = ?", (self._title(title), conversation_id))
        return self.get(conversation_id)

    def delete(self, conversation_id: str) -> None:
        """Take a conversation off the lists and out of searches until ``restore``. Raises ConversationUnknown."""
        with self._database.transaction():
            self.get(conversation_id)
            values = (self._clock(), conversation_id)
            self._database.run("UPDATE conversations SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", values)
            self._index.remove_conversation(conversation_id)

    def restore(self, conversation_id: str) -> Conversation:
        """Undo ``delete``. Raises ConversationUnknown."""
        with self._database.transaction():
            self.get(conversation_id)
            self._database.run("UPDATE conversations SET deleted_at = NULL WHERE id = ?", (conversation_id,))
            self._index.add_conversation(conversation_id)
        return self.get(conversation_id)

    def purge(self, conversation_id: str | None = None, *, before: float | None = None) -> int:
        """Remove deleted conversations for good, full-text index included: one, or those deleted ``before`` a time.

        Returns how many went. A conversation that is not deleted stays.
        """
        with self._database.transaction():
            rows = self._database.rows(
                "SELECT id FROM conversations WHERE deleted_at IS NOT NULL"
                " AND (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR deleted_at < ?2)",
                (conversation_id and storable(conversation_id), before),
            )
            for row in rows:
                self._database.run("DELETE FROM conversations WHERE id = ?", (row["id"],))
        return len(rows)

    def forget(self, conversation_id: str) -> bool:
        """Remove a conversation for good, deleted before or not, with every trace of it in this member's file.

        False where another window still holds the file as it was: the last one to close it finishes. Raises
        ConversationUnknown, DiskFull.
        """
        with self._database.transaction():
            self.delete(conversation_id)
            self.purge(conversation_id)
            self._index.compact()
        return self._database.scrub()

    def _title(self, text: str) -> str:
        clean = " ".join("".join(c if c.isprintable() else " " for c in storable(text)).split())
        limit = self._settings.title_characters
        return clean if len(clean) <= limit else clean[: limit - 1].rstrip() + "…"


def _conversation(row: Row) -> Conversation:
    return Conversation(row["id"], row["title"], row["created_at"], row["updated_at"], row["deleted_at"])
