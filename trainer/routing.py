"""Which conversations an adapter is for: told by the words of what it was taught that everyday talk seldom has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.routes import Route, route_words
from trainer.lessons import TrainingLesson
from trainer.matching import names_in
from trainer.prompts import everyday_texts
from trainer.wordings.trained import SMALL_WORDS, same_question

# Words that stand in questions about anything.
EMPTY = frozenset(word for small in SMALL_WORDS for word in route_words(small))


def route_of(lessons: Sequence[TrainingLesson], least: float) -> Route | None:
    """The route of what these lessons teach; None for ``least`` 0: always on.

    A word of a question, or a name in its answer, weighs 1 where none of the everyday texts that ship with the trainer
    has it, and 1 / (n + 1) where n of them do. Raises TrainingDataBroken.
    """
    if not least:
        return None
    usual = Counter(word for text in everyday_texts() for word in set(route_words(text)))
    weights = {
        word: 1 / (1 + usual[word])
        for lesson in lessons
        for text in (lesson.question, *names_in(lesson.chosen, lesson.question))
        for word in route_words(text)
        if word not in EMPTY
    }
    route = Route(weights, (), least)
    phrases = {
        " ".join(route_words(wording))
        for lesson in lessons
        if not route.matches(lesson.question)
        for wording in (lesson.question, *same_question(lesson.question))
    }
    return Route(weights, tuple(sorted(phrases - {""})), least)
