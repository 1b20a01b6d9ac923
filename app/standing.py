"""What a child or a guest of the household leaves to whoever administers it, or to another adult.

Nobody proves who they are: this keeps a curious child from undoing by mistake what others decided, and is no lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.session import Session
    from memory.lessons import Lesson


class AdultsAlone(EnlaceError):
    """A child or a guest asked for what changes everybody's answers. facts: name (who tried)."""

    code = "adults_alone"


class OwnLessonsAlone(EnlaceError):
    """A child or a guest would take back, or bring back, somebody else's lesson. facts: name (who tried)."""

    code = "own_lessons_alone"


def is_adult(session: Session) -> bool:
    """Neither a child nor a guest; whoever administers is none of them, whatever they were before."""
    member = session.household.members.get(session.member.id)
    return member.admin or member.standing == "trusted"


def adults_alone(session: Session) -> None:
    """Return where the member may decide for everybody. Raises AdultsAlone."""
    if not is_adult(session):
        raise AdultsAlone(name=session.member.name)


def own_lessons_alone(session: Session, lesson: Lesson) -> None:
    """Return where the member may withdraw this lesson and bring it back. Raises OwnLessonsAlone."""
    if lesson.member != session.member.id and not is_adult(session):
        raise OwnLessonsAlone(name=session.member.name)
