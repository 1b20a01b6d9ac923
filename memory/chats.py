"""What is said in a conversation: a tree of messages, where editing a question or asking again makes a branch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory.conversations import Conversation, Conversations
from memory.database import Row
from memory.errors import MessageUnknown
from memory.history_search import Match
from memory.ids import new_id
from memory.processes import own_identity
from memory.text import storable

__all__ = ["ChatMessage", "Chats", "Conversation", "Hit", "Role", "State"]

Role = Literal["system", "user", "assistant", "tool"]
State = Literal["complete", "partial", "stopped", "failed"]


@dataclass(frozen=True)
class ChatMessage:
    """One message. An answer is ``partial`` while it is written, and for good if its writer died."""

    id: str
    conversation_id: str
    parent_id: str | None
    role: Role
    content: str
    state: State
    created_at: float
    snapshot: str | None
    meta: dict[str, Any]
    rating: int


@dataclass(frozen=True)
class Hit:
    """A message that a search found. ``marks``: (start, end) of its words in ``snippet``; a higher score is better."""

    message: ChatMessage
    conversation: Conversation
    snippet: str
    score: float
    marks: tuple[tuple[int, int], ...]


# Inside the class, `list` is a method.
Messages = list[ChatMessage]
Hits = list[Hit]


class Chats(Conversations):
    """The conversations in one member's file, and what was said in them."""

    def message(self, message_id: str) -> ChatMessage:
        """Raises MessageUnknown."""
        row = self._database.row("SELECT * FROM messages WHERE id = ?", (storable(message_id),))
        if row is None:
            raise MessageUnknown(id=message_id)
        return _message(row)

    def question(self, conversation_id: str, text: str, parent_id: str | None = None) -> ChatMessage:
        """Store what a member asks; it is on the disk when this returns.

        ``parent_id``: the message it follows. None begins a branch at the root, which an empty conversation
        needs. Raises ConversationUnknown, MessageUnknown.
        """
        with self._database.transaction():
            conversation = self.get(conversation_id)
            if parent_id is not None:
                self._of(conversation_id, parent_id)
            message = self._add(conversation_id, parent_id, "user", text, "complete", None, writer=None)
            title = conversation.title or self._title(text)
            self._database.run(
                "UPDATE conversations SET updated_at = ?, title = ? WHERE id = ?",
                (message.created_at, title, conversation_id),
            )
            self._index.add(message.id)
        return message

    def begin_answer(self, question_id: str, snapshot: str | None) -> ChatMessage:
        """An empty, partial answer to a question, by the model that ``snapshot`` names. Raises MessageUnknown."""
        with self._database.transaction():
            question = self.message(question_id)
            answer = self._add(
                question.conversation_id, question_id, "assistant", "", "partial", snapshot, writer=own_identity()
            )
            self._touch(answer)
        return answer

    def extend_answer(self, answer_id: str, text: str) -> None:
        """Store all of the answer there is so far (``text`` replaces what was stored). Raises MessageUnknown."""
        values = (storable(text), answer_id)
        if not self._database.run("UPDATE messages SET content = ? WHERE id = ? AND state = 'partial'", values):
            raise MessageUnknown(id=answer_id)

    def finish_answer(
        self,
        answer_id: str,
        text: str,
        state: State = "complete",
        meta: Mapping[str, Any] | None = None,
        *,
        snapshot: str | None = None,
    ) -> ChatMessage:
        """The answer in its final state, found by searches from now on. ``snapshot`` corrects what began it.

        Raises MessageUnknown.
        """
        with self._database.transaction():
            self.message(answer_id)
            self._index.remove(answer_id)
            self._database.run(
                "UPDATE messages SET content = ?, state = ?, meta = ?, snapshot = coalesce(?, snapshot), writer = NULL"
                " WHERE id = ?",
                (storable(text), state, json.dumps(dict(meta or {})), snapshot, answer_id),
            )
            self._index.add(answer_id)
            answer = self.message(answer_id)
            self._touch(answer)
        return answer

    def take_in(self, conversation: Conversation, messages: Iterable[ChatMessage]) -> int:
        """Store what was said elsewhere, or here before, under the ids it has; how many messages are new.

        ``messages``: parents before what follows them. What is there already stays as it is, and so does a deleted
        conversation. Nobody is at work on them: an answer that was never finished stays partial.
        """
        added = 0
        with self._database.transaction():
            self._database.run(
                "INSERT OR IGNORE INTO conversations (id, title, created_at, updated_at, deleted_at)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    conversation.id,
                    self._title(conversation.title),
                    conversation.created_at,
                    conversation.updated_at,
                    conversation.deleted_at,
                ),
            )
            for message in messages:
                new = self._database.run(
                    "INSERT OR IGNORE INTO messages (id, conversation_id, parent_id, role, content, state, created_at,"
                    " snapshot, meta, rating) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        message.id,
                        conversation.id,
                        message.parent_id,
                        message.role,
                        storable(message.content),
                        message.state,
                        message.created_at,
                        message.snapshot,
                        json.dumps(message.meta),
                        message.rating,
                    ),
                )
                if new:
                    self._index.add(message.id)
                added += new
            if added:
                self._database.run(
                    "UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?",
                    (conversation.updated_at, conversation.id),
                )
        return added

    def path(self, conversation_id: str, leaf_id: str | None = None) -> Messages:
        """The messages from the root to ``leaf_id``, else to the end of the newest branch.

        Raises ConversationUnknown, MessageUnknown.
        """
        self.get(conversation_id)
        if leaf_id is None:
            newest = "SELECT id FROM messages WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1"
            leaf_id = self._database.value(newest, (conversation_id,))
        else:
            self._of(conversation_id, leaf_id)
        rows = self._database.rows(
            "WITH RECURSIVE way (id, parent_id, steps) AS ("
            "  SELECT id, parent_id, 0 FROM messages WHERE id = ?"
            "  UNION ALL SELECT m.id, m.parent_id, steps + 1 FROM way JOIN messages AS m ON m.id = way.parent_id"
            ") SELECT messages.* FROM way JOIN messages USING (id) ORDER BY steps DESC",
            (leaf_id,),
        )
        return [_message(row) for row in rows]

    def newest_leaf(self, message_id: str) -> ChatMessage:
        """The end of the branch that goes on from a message along its newest replies. Raises MessageUnknown."""
        at = self.message(message_id)
        newest = {message.parent_id: message for message in self.messages(at.conversation_id)}
        while at.id in newest:
            at = newest[at.id]
        return at

    def messages(self, conversation_id: str) -> Messages:
        """Every message of a conversation, all branches, in the order in which they were written."""
        rows = self._database.rows("SELECT * FROM messages WHERE conversation_id = ? ORDER BY seq", (conversation_id,))
        return [_message(row) for row in rows]

    def questions(self) -> Messages:
        """Everything that the member said, in all conversations, in the order in which it was stored."""
        return [_message(row) for row in self._database.rows("SELECT * FROM messages WHERE role = 'user' ORDER BY seq")]

    def lesson_place(self, lesson_id: str) -> ChatMessage | None:
        """The answer of this member's that was corrected, or rated, by a lesson; None where it was none of theirs."""
        row = self._database.row("SELECT * FROM messages WHERE json_extract(meta, '$.lesson') = ?", (lesson_id,))
        return None if row is None else _message(row)

    def siblings(self, message_id: str) -> Messages:
        """The message and the others that follow the same one, the oldest first. Raises MessageUnknown."""
        message = self.message(message_id)
        rows = self._database.rows(
            "SELECT * FROM messages WHERE conversation_id = ? AND parent_id IS ? AND role = ? ORDER BY seq",
            (message.conversation_id, message.parent_id, message.role),
        )
        return [_message(row) for row in rows]

    def rate(self, message_id: str, rating: int) -> ChatMessage:
        """The message with a thumb up (1), down (-1) or none (0). Raises MessageUnknown."""
        if rating not in (-1, 0, 1):
            raise ValueError(f"a rating is -1, 0 or 1, not {rating}")
        self.message(message_id)
        self._database.run("UPDATE messages SET rating = ? WHERE id = ?", (rating, message_id))
        return self.message(message_id)

    def search(self, text: str, limit: int = 20) -> Hits:
        """Messages that hold the words of ``text``, as written first, then accents aside; any text is safe."""
        return [self._hit(match) for match in self._search.words(storable(text), limit)]

    def evidence(self, question: str, limit: int = 20) -> Hits:
        """Messages that hold most of what ``question`` is about, the best first; any text is safe."""
        return [self._hit(match) for match in self._search.evidence(storable(question), limit)]

    def marks(self, text: str, content: str) -> tuple[tuple[int, int], ...]:
        """Where the words of the search ``text`` stand in a message, as (start, end) in its characters."""
        return self._search.marks(storable(text), content)

    def _hit(self, match: Match) -> Hit:
        message = self.message(match.message_id)
        return Hit(message, self.get(message.conversation_id), match.snippet, match.score, match.marks)

    def _of(self, conversation_id: str, message_id: str) -> ChatMessage:
        message = self.message(message_id)
        if message.conversation_id != conversation_id:
            raise MessageUnknown(id=message_id)
        return message

    def _add(
        self,
        conversation_id: str,
        parent_id: str | None,
        role: Role,
        text: str,
        state: State,
        snapshot: str | None,
        *,
        writer: str | None,
    ) -> ChatMessage:
        now = self._clock()
        message = ChatMessage(
            new_id(now), conversation_id, parent_id, role, storable(text), state, now, snapshot, {}, rating=0
        )
        self._database.run(
            "INSERT INTO messages (id, conversation_id, parent_id, role, content, state, created_at, snapshot, writer)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (message.id, conversation_id, parent_id, role, message.content, state, now, snapshot, writer),
        )
        return message

    def _touch(self, message: ChatMessage) -> None:
        values = (self._clock(), message.conversation_id)
        self._database.run("UPDATE conversations SET updated_at = ? WHERE id = ?", values)


def _message(row: Row) -> ChatMessage:
    return ChatMessage(
        row["id"],
        row["conversation_id"],
        row["parent_id"],
        row["role"],
        row["content"],
        row["state"],
        row["created_at"],
        row["snapshot"],
        json.loads(row["meta"]),
        row["rating"],
    )
