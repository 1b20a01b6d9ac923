"""What members answer in different ways, for whoever is to decide which of it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from configs.sections.defence import DefenceSettings
from configs.sections.training import RecipeSettings
from memory.household import Household
from trainer.admission import well_formed
from trainer.defence import CONTRADICTED, agree, family_lessons, same_questions
from trainer.lessons import TrainingLesson


@dataclass(frozen=True)
class Contradiction:
    """Of one question, the lessons (ids, oldest first) of those who say the same, side by side.

    ``trained``: which side is trained meanwhile, by the rules of the defence; None: none of them.
    """

    sides: tuple[tuple[str, ...], ...]
    trained: int | None


def contradictions(household: Household, settings: DefenceSettings, recipe: RecipeSettings) -> list[Contradiction]:
    """Those that keep a lesson from being trained by ``recipe``, in the order in which the questions were taught."""
    dropped = {each.id for each in family_lessons(household, settings, recipe)[1] if each.reason == CONTRADICTED}
    corrections = household.corrections()
    members = {lesson.id: lesson.member for lesson in corrections}
    kept, _ = well_formed(corrections)
    found = []
    for asked in same_questions(kept):
        if dropped.isdisjoint(lesson.id for lesson in asked):
            continue
        last = {members[lesson.id]: lesson for lesson in asked}
        sides = _sides(list(last.values()))
        told = tuple(
            tuple(each.id for each in asked if members[each.id] in {members[said.id] for said in side})
            for side in sides
        )
        trained = next((place for place, side in enumerate(told) if dropped.isdisjoint(side)), None)
        found.append(Contradiction(told, trained))
    return found


def _sides(said: Sequence[TrainingLesson]) -> list[list[TrainingLesson]]:
    """The last words of members, those together that say the same."""
    sides: list[list[TrainingLesson]] = []
    for lesson in said:
        side = next((side for side in sides if agree(side[0], lesson)), None)
        if side is None:
            sides.append([lesson])
        else:
            side.append(lesson)
    return sides
