"""A fact in words: whose words it rests on, of whom it speaks, who sees it, and since when it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from app.commands.options import moment

if TYPE_CHECKING:
    from app.session import Session
    from memory.facts import Fact


# Where a fact was said: in a conversation that is here, in one that is deleted, or gone for good, or in none of the
# member's: a person noted it, or another member said it.
Origin = Literal["here", "deleted", "gone", "noted", "of_another"]


def origin_of(session: Session, fact: Fact) -> Origin:
    """Where it was said, as far as this member may know."""
    from memory.errors import MessageUnknown

    if fact.said_by != session.member.id:
        return "of_another"
    if fact.source == fact.id:
        return "noted"
    try:
        message = session.memory.chats.message(fact.source)
    except MessageUnknown:
        return "gone"
    return "here" if session.memory.chats.get(message.conversation_id).deleted_at is None else "deleted"


def evidence_of(session: Session, fact: Fact) -> dict[str, Any] | None:
    """Where the exact words stand; None where no conversation of the member's that is here holds them."""
    if origin_of(session, fact) != "here":
        return None
    message = session.memory.chats.message(fact.source)
    title = session.memory.chats.get(message.conversation_id).title
    return {"quote": fact.quote, "message": message.id, "conversation": message.conversation_id, "title": title}


def parts_of(session: Session, fact: Fact, evidence: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What is to be told of it, as (name below ``command.memory.parts``, text), what is not known left out."""
    words = session.catalogue
    predicate = f"{fact.predicate}/{fact.detail}" if fact.detail else fact.predicate
    rows = [
        ("subject", fact.subject or words.text("command.memory.household")),
        ("predicate", predicate),
        ("object", fact.object),
        ("said_by", said_by(session, fact)),
        ("said_at", moment(fact.created_at)),
        ("quote", f"«{fact.quote}»"),
        ("conversation", evidence["title"] if evidence else _lost(session, fact)),
        ("seen_by", words.text(f"command.{fact.visibility}")),
        ("valid", f"{moment(fact.valid_from)} – {until(session, fact)}"),
        ("state", words.text(f"command.memory.gone.{fact.forgotten_as}") if fact.forgotten_as else ""),
        ("made_by", words.text(f"command.memory.made.{fact.made_by}")),
        ("id", fact.id),
    ]
    return [(name, value) for name, value in rows if value]


def _lost(session: Session, fact: Fact) -> str:
    origin = origin_of(session, fact)
    return session.catalogue.text(f"memory.origin.{origin}") if origin in ("deleted", "gone") else ""


def said_by(session: Session, fact: Fact) -> str:
    """Who said it, and on whose screen where it was another's."""
    names = {member.id: member.name for member in session.household.members.list()}
    said = names.get(fact.said_by, "?")
    if not fact.speaker:
        return said
    return session.catalogue.text("command.memory.on_screen_of", speaker=fact.speaker, name=said)


def until(session: Session, fact: Fact) -> str:
    """Until when it was so."""
    return moment(fact.valid_to) if fact.valid_to is not None else session.catalogue.text("command.memory.now")
