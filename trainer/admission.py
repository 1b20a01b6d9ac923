"""Which lessons a training can take at all: those that have something to teach, and over which no rule stumbles.

The rules take apart whatever sentences people write. A text that one of them was not made for must cost a training that
lesson and not all others: so each is gone through alone before any is trained.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from configs.errors import EnlaceError
from configs.sections.training import RecipeSettings
from memory.lessons import Lesson
from memory.matching import says_the_same
from trainer.lessons import Dropped, TrainingLesson, messages_of
from trainer.routing import route_of
from trainer.settling import question_keys, settled
from trainer.teaching.rows import neighbours_of, rows_of, unseen_wordings
from trainer.wordings.trained import EVERY

STUMBLED = "stumbled"


def sorted_out(lessons: Iterable[Lesson], recipe: RecipeSettings) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of one member's lessons (oldest first) those that are trained, and those that are not, each with its reason."""
    kept, dropped = admitted(lessons, recipe)
    counting, earlier = settled(kept)
    return counting, [*dropped, *earlier]


def admitted(lessons: Iterable[Lesson], recipe: RecipeSettings) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of lessons (oldest first) those that ``recipe`` can train, and the others."""
    sound, dropped = well_formed(lessons)
    kept, stumbled = workable(sound, recipe)
    return kept, [*dropped, *stumbled]


def well_formed(lessons: Iterable[Lesson]) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of lessons (oldest first) those that have something to teach, and the others."""
    kept, dropped = [], []
    for lesson in lessons:
        messages = messages_of(lesson)
        chosen, rejected = lesson.chosen.strip(), lesson.rejected.strip()
        if not chosen or not messages or not messages[-1].content.strip():
            dropped.append(Dropped(lesson.id, "empty", messages[-1].content if messages else ""))
        elif chosen == rejected:
            dropped.append(Dropped(lesson.id, "unchanged", messages[-1].content))
        else:
            kept.append(TrainingLesson(lesson.id, messages, chosen, rejected))
    return kept, dropped


def workable(lessons: Sequence[TrainingLesson], recipe: RecipeSettings) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of lessons those over which none of the rules stumbles that the stages of a training go by, and the others.

    What a rule raised there is told as ``why``, without the text over which it did. Raises TrainingDataBroken.
    """
    kept, dropped = [], []
    for lesson in lessons:
        try:
            _go_through(lesson, recipe)
        except EnlaceError:
            raise
        except Exception as error:
            # Whatever it is: it would end the training of every other lesson.
            dropped.append(Dropped(lesson.id, STUMBLED, lesson.question, why=_where(error)))
        else:
            kept.append(lesson)
    return kept, dropped


def _go_through(lesson: TrainingLesson, recipe: RecipeSettings) -> None:
    question_keys(lesson)
    rows = rows_of([lesson], recipe)
    unseen_wordings([lesson], (*rows.asked, *rows.more), EVERY)
    neighbours_of([lesson], recipe.rows.neighbours)
    route_of([lesson], recipe.route)
    says_the_same(lesson.chosen, question=lesson.question, chosen=lesson.chosen, rejected=lesson.rejected)


def _where(error: Exception) -> str:
    """The kind of an error and the line that raised it; its message may hold somebody's words."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}, {Path(last.filename).name}:{last.lineno}"
