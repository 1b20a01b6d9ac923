"""Forgetting for good: what is left of it nowhere in the home, and what only a new training could take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.withdrawing import forget_in_runs, what_still_knows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from memory.facts import Fact
    from memory.lessons import Lesson


@dataclass(frozen=True)
class Forgotten:
    """``still_known``: a sentence for each snapshot that was trained on it. ``held``: another window has the file open
    as it was before; the last one to close it leaves nothing.
    """

    still_known: tuple[str, ...]
    held: bool


def lessons_of(session: Session, conversation_id: str) -> list[Lesson]:
    """What the member taught in a conversation: corrections and ratings of its answers, which hold its words too."""
    messages = session.memory.chats.messages(conversation_id)
    ids = {str(message.meta["lesson"]) for message in messages if message.meta.get("lesson")}
    ids |= {f"thumb-{message.id}" for message in messages}
    own = session.member.id
    return [lesson for lesson in session.memory.lessons.list() if lesson.id in ids and lesson.member == own]


def facts_of(session: Session, conversation_id: str) -> list[Fact]:
    """What is remembered of what the member said in a conversation. To delete it takes none of that out of mind."""
    return [fact for fact in session.memory.facts.said_in(_messages_of(session, conversation_id)) if fact.stands]


def forget_conversation(session: Session, conversation_id: str) -> Forgotten:
    """Remove a conversation, what was taught in it and the facts that it left.

    Raises ConversationUnknown, DiskFull, FileNotWritten.
    """
    taught = [lesson.id for lesson in lessons_of(session, conversation_id)]
    lessons = forget_lessons(session, taught) if taught else Forgotten((), held=False)
    facts = session.memory.facts.purge_said_in(_messages_of(session, conversation_id))
    whole = session.memory.chats.forget(conversation_id)
    return Forgotten(lessons.still_known, lessons.held or not facts or not whole)


def forget_lessons(session: Session, lesson_ids: Sequence[str]) -> Forgotten:
    """Remove lessons from the databases and from what trainings wrote. Raises LessonUnknown, DiskFull, FileNotWritten.

    Weights that were trained on them know them until they are trained anew: which ones, is told.
    """
    known = dict.fromkeys(sentence for each in lesson_ids for sentence in what_still_knows(session, each))
    whole = session.memory.lessons.purge(lesson_ids)
    for each in lesson_ids:
        forget_in_runs(session, each)
    return Forgotten(tuple(known), not whole)


def forget_fact(session: Session, fact_id: str) -> Forgotten:
    """Remove a fact. Raises FactUnknown, FactOfAnother, DiskFull."""
    return Forgotten((), not session.memory.facts.purge(fact_id))


def _messages_of(session: Session, conversation_id: str) -> list[str]:
    return [message.id for message in session.memory.chats.messages(conversation_id)]
