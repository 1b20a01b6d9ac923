"""What a child or a guest of the household leaves to whoever administers it, or to another adult.

Whoever has a PIN or a passphrase proves who they are before anything is done in their name; whoever has none may be
anybody of the house, and a child who names them decides as they would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.session import Session
    from memory.facts import Fact
    from memory.lessons import Lesson


class AdminAlone(EnlaceError):
    """Only whoever administers the household may do this. facts: name (who tried)."""

    code = "admin_alone"


class AdultsAlone(EnlaceError):
    """A child or a guest asked for what changes everybody's answers. facts: name (who tried)."""

    code = "adults_alone"


class OwnLessonsAlone(EnlaceError):
    """A child or a guest would take back, or bring back, somebody else's lesson. facts: name (who tried)."""

    code = "own_lessons_alone"


class OwnFactsAlone(EnlaceError):
    """A child or a guest would change, forget or share what the household remembers. facts: name (who tried)."""

    code = "own_facts_alone"


def is_adult(session: Session) -> bool:
    """Neither a child nor a guest; who administers is none of them."""
    return session.household.members.get(session.member.id).standing == "trusted"


def administers(session: Session) -> bool:
    """Whether the member does."""
    return session.household.members.get(session.member.id).admin


def admin_alone(session: Session) -> None:
    """Return where the member administers the household. Raises AdminAlone."""
    if not administers(session):
        raise AdminAlone(name=session.member.name)


def adults_alone(session: Session) -> None:
    """Return where the member may decide for everybody. Raises AdultsAlone."""
    if not is_adult(session):
        raise AdultsAlone(name=session.member.name)


def own_lessons_alone(session: Session, lesson: Lesson) -> None:
    """Return where the member may withdraw this lesson and bring it back. Raises OwnLessonsAlone."""
    if lesson.member != session.member.id and not is_adult(session):
        raise OwnLessonsAlone(name=session.member.name)


def own_facts_alone(session: Session, fact: Fact | None = None, *, shares: bool = False) -> None:
    """Return where the member may add a fact, or change or forget ``fact``, and share it with the house.

    What a child or a guest says comes to nobody else's mind: they neither share it, nor touch what others shared.
    Raises OwnFactsAlone.
    """
    others = fact is not None and (fact.visibility == "shared" and fact.said_by != session.member.id)
    if (shares or others) and not is_adult(session):
        raise OwnFactsAlone(name=session.member.name)
