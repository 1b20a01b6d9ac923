"""What an answer was reminded of, and where that comes from: who said it, when, and in which conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.standing import own_facts_alone, own_lessons_alone

if TYPE_CHECKING:
    from app.session import Session
    from memory.chats import ChatMessage

Kind = Literal["lesson", "fact"]


@dataclass(frozen=True)
class RecalledSource:
    """``text``: what was recalled; ``question``: what a lesson was given for. ``said_by``: a name; ``said_at``: seconds
    since 1970; ``own``: whether this member said it.

    ``title`` and ``message``: the conversation, and where in it, if it is one of this member's that is kept.
    """

    kind: Kind
    id: str
    text: str
    question: str
    said_by: str
    said_at: float
    own: bool
    title: str = ""
    message: str | None = None


def sources_of(session: Session, answer: ChatMessage) -> list[RecalledSource]:
    """In the order in which they were put before the model, without those that are gone."""
    from memory.errors import FactUnknown, LessonUnknown

    memory = session.memory
    names = {member.id: member.name for member in session.household.members.list()}
    found = []
    for lesson_id in answer.meta.get("lessons", ()):
        try:
            lesson = memory.lessons.get(lesson_id)
        except LessonUnknown:
            continue
        if lesson.status == "active":
            title, message = _place(session, memory.chats.lesson_place(lesson.id))
            by, own = names.get(lesson.member, "?"), lesson.member == session.member.id
            found.append(
                RecalledSource(
                    "lesson", lesson.id, lesson.chosen, lesson.question, by, lesson.created_at, own, title, message
                )
            )
    for fact_id in answer.meta.get("facts", ()):
        try:
            fact = memory.facts.get(fact_id)
        except FactUnknown:
            continue
        if fact.stands:
            title, message = _place(session, _said_in(session, fact.source))
            by, own = fact.speaker or names.get(fact.said_by, "?"), fact.said_by == session.member.id
            found.append(RecalledSource("fact", fact.id, fact.text, "", by, fact.created_at, own, title, message))
    return found


def correct(session: Session, source: RecalledSource, text: str) -> None:
    """Other words for what was recalled; of another's lesson a later one of this member's, which wins.

    Raises what lessons and facts raise of a text that is none, LessonUnknown or FactUnknown of what is gone, and
    OwnFactsAlone.
    """
    memory = session.memory
    if source.kind == "fact":
        own_facts_alone(session, memory.facts.get(source.id))
        memory.facts.edit(source.id, text=text)
    elif source.own:
        memory.lessons.edit(source.id, chosen=text)
    else:
        lesson = memory.lessons.get(source.id)
        memory.lessons.add(lesson.messages, text, lesson.chosen, visibility="shared")


def forget(session: Session, source: RecalledSource) -> None:
    """Take what was recalled out of memory; it can be restored.

    Raises LessonUnknown, FactUnknown, FileNotWritten, OwnFactsAlone, OwnLessonsAlone.
    """
    if source.kind == "fact":
        own_facts_alone(session, session.memory.facts.get(source.id))
        session.memory.facts.forget(source.id)
        return
    from app.withdrawing import forget_in_runs

    own_lessons_alone(session, session.memory.lessons.get(source.id))
    session.memory.lessons.withdraw(source.id)
    forget_in_runs(session, source.id)


def _said_in(session: Session, message_id: str) -> ChatMessage | None:
    from memory.errors import MessageUnknown

    try:
        return session.memory.chats.message(message_id)
    except MessageUnknown:
        # Another member's conversation, or an act that was no message.
        return None


def _place(session: Session, message: ChatMessage | None) -> tuple[str, str | None]:
    if message is None:
        return "", None
    conversation = session.memory.chats.get(message.conversation_id)
    return ("", None) if conversation.deleted_at is not None else (conversation.title, message.id)
