"""What whoever administers is asked: lessons that wait to be approved, and what members answer in different ways."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.training import answer_of
from memory.errors import LessonUnknown

if TYPE_CHECKING:
    from app.session import Session
    from memory.lessons import Lesson


@dataclass(frozen=True)
class Contradiction:
    """Of one question, what members say: those who say the same together, each side's lessons oldest first.

    ``trained``: the place of the side that is trained meanwhile; None where none is.
    """

    sides: tuple[tuple[Lesson, ...], ...]
    trained: int | None

    @property
    def question(self) -> str:
        return self.sides[0][-1].question

    def against(self, side: int) -> tuple[Lesson, ...]:
        """What has to go where this side is right."""
        return tuple(lesson for place, said in enumerate(self.sides) if place != side for lesson in said)


def contradictions(session: Session) -> list[Contradiction]:
    """All there are; a process of the trainer tells them, whose rules they are.

    Raises what that reports, and TrainerNotStarted.
    """
    told, _ = answer_of(session.household.home, "trainer", "contradictions")
    found = []
    for each in json.loads(told):
        sides = tuple(tuple(_known(session, side)) for side in each["sides"])
        # Somebody may have taken one back in this moment.
        if all(sides):
            found.append(Contradiction(sides, each["trained"]))
    return found


def _known(session: Session, ids: list[str]) -> list[Lesson]:
    found = []
    for lesson_id in ids:
        try:
            found.append(session.memory.lessons.get(lesson_id))
        except LessonUnknown:
            continue
    return found
