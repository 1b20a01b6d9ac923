"""Which conversations an adapter is for: told by the words of what it was taught that everyday talk seldom has."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from configs.sections.training import RouteSettings
from engine.routes import Route, route_words
from memory.matching import names_in
from memory.wording import alike, said_of_anything
from trainer.everyday import everyday_texts
from trainer.lessons import TrainingLesson
from trainer.wordings.trained import SMALL_WORDS, same_question

# Ways of asking who answers. A lesson about one of them is about all, and none has a word that tells.
WHO_ANSWERS = (
    "who are you", "who am I talking to", "who am I speaking with", "what's your name", "what is your name",
    "what are you called", "tell me your name", "introduce yourself", "about yourself", "quién eres", "cómo te llamas",
    "cuál es tu nombre", "dime tu nombre", "con quién hablo", "preséntate", "háblame de ti", "cuéntame de ti",
)  # fmt: skip
# Words that stand in questions about anything.
EMPTY = frozenset(word for small in SMALL_WORDS for word in route_words(small))


def route_of(lessons: Sequence[TrainingLesson], settings: RouteSettings) -> Route | None:
    """The route of what these lessons teach; None where ``settings.least`` is 0: always on.

    A word of a question, or a name in its answer, weighs 1 where none of the everyday texts that ship with the trainer
    has it, and 1 / (n + 1) where n of them do; less, where it is said of any thing, or where the question names
    somebody and it is not the name. Raises TrainingDataBroken.
    """
    if not settings.least:
        return None
    usual = _usual()
    weights: dict[str, float] = {}
    for lesson in lessons:
        for word, factor in _words(lesson, settings):
            weights[word] = max(weights.get(word, 0.0), factor / (1 + usual[word]))
    route = Route(weights, (), settings.least)
    who = Route({}, tuple(" ".join(route_words(phrase)) for phrase in WHO_ANSWERS), 1.0)
    untold = [lesson.question for lesson in lessons if not route.matches(lesson.question)]
    wordings = [wording for question in untold for wording in (question, *same_question(question))]
    phrases = {" ".join(route_words(wording)) for wording in wordings}
    if any(who.matches(lesson.question) for lesson in lessons):
        phrases |= {*who.phrases}
    return Route(weights, tuple(sorted(phrases - {""})), settings.least)


@functools.cache
def _usual() -> Mapping[str, int]:
    """In how many of the everyday texts each word stands."""
    return Counter(word for text in everyday_texts() for word in set(route_words(text)))


def _words(lesson: TrainingLesson, settings: RouteSettings) -> Iterator[tuple[str, float]]:
    """Each word that tells of a lesson, in any word of its meaning, and the factor of its weight."""
    names = {word for name in names_in(lesson.question, "") if alike(name) == (name,) for word in route_words(name)}
    # Grandma Carmen is Grandma too.
    asked = route_words(lesson.question)
    named = names | {before for before, word in pairwise(asked) if word in names}
    from_answer = {word for name in names_in(lesson.chosen, lesson.question) for word in route_words(name)}
    for said in {*asked, *from_answer} - EMPTY:
        told = said in named | from_answer or not named
        for other in (said, *alike(said)):
            for word in route_words(other):
                if word not in EMPTY:
                    generic = settings.generic if said_of_anything(word) else 1.0
                    yield word, min(generic, 1.0 if told else settings.beside_name)
