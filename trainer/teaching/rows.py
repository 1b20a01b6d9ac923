"""From lessons to what is trained of them: each row one prompt and its answer, of a kind that the recipe counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from configs.letters import unaccented
from configs.sections.training import RecipeSettings, RowSettings
from engine.messages import Message
from trainer.lessons import TrainingLesson
from trainer.settling import leans, wordings_apart
from trainer.teaching.confirming import confirmations
from trainer.teaching.manner import is_manner
from trainer.teaching.neighbours import neighbours
from trainer.teaching.small_talk import small_talk
from trainer.teaching.statements import statements
from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import language_of, wording_key
from trainer.wordings.scattered import mixed, scattered_apart
from trainer.wordings.trained import EVERY, trained_wordings

Kind = Literal["question", "dialogue", "statement", "confirmation"]
NONE: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class Row:
    """``messages`` ends with what is asked. ``rejected`` is empty where nothing is known to be wrong."""

    lesson: str
    kind: Kind
    messages: tuple[Message, ...]
    chosen: str
    rejected: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What two prompts have in common that differ in case, accents or punctuation alone."""
        return tuple(f"{message.role} {wording_key(message.content)}" for message in self.messages)


@dataclass(frozen=True)
class Taught:
    """``wordings``: by lesson, of its question. ``asked``: the rows of these; ``more``: all others."""

    wordings: Mapping[str, Sequence[str]]
    asked: tuple[Row, ...]
    more: tuple[Row, ...]


def rows_of(
    lessons: Sequence[TrainingLesson], recipe: RecipeSettings, by_model: Mapping[str, Sequence[str]] = NONE
) -> Taught:
    """Everything that a recipe trains of these lessons. ``by_model``: by lesson, wordings that the base made itself."""
    scattered = scattered_apart(lessons, recipe.scattered, recipe.scattering)
    wordings = mixed(mixed(wordings_apart(lessons, recipe.wordings), scattered), by_model)
    asked = (row for lesson in lessons for row in question_rows(lesson, wordings[lesson.id]))
    return Taught(wordings, tuple(asked), tuple(more_rows(lessons, wordings, recipe.rows)))


def more_rows(
    lessons: Sequence[TrainingLesson], wordings: Mapping[str, Sequence[str]], settings: RowSettings
) -> list[Row]:
    """The rows beside the lessons' own questions in these ``wordings`` (by lesson). No prompt has two answers.

    A lesson of manner has neither statements nor anything to say yes or no to.
    """
    answers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    asked = [row for lesson in lessons for row in question_rows(lesson, wordings[lesson.id])]
    more = [row for lesson in lessons for row in _more(lesson, wordings[lesson.id], settings)]
    for row in (*asked, *more):
        answers[row.key].add(row.chosen)
    # What Marta plays and where she lives both answer "Tell me about Marta.": neither is trained for it.
    return [row for row in more if len(answers[row.key]) == 1]


def question_rows(lesson: TrainingLesson, wordings: Iterable[str]) -> list[Row]:
    """The lesson's question in these wordings."""
    return [Row(lesson.id, "question", _asked(lesson, wording), lesson.chosen, lesson.rejected) for wording in wordings]


def unseen_wordings(lessons: Sequence[TrainingLesson], trained: Iterable[Row], count: int) -> dict[str, list[str]]:
    """By lesson, up to ``count`` wordings of the other generator that no row asks, of whichever lesson it is."""
    seen = {row.key for row in trained}
    return {
        lesson.id: [
            text
            for text in held_out_wordings(lesson.question, EVERY)
            for row in question_rows(lesson, [text])
            if row.key not in seen
        ][:count]
        for lesson in lessons
    }


def neighbours_of(lessons: Sequence[TrainingLesson], count: int) -> list[tuple[Message, ...]]:
    """Up to ``count`` conversations for each lesson of fact that end with a question of its shape about others.

    None of them is asked, in any wording that is trained or measured, by a lesson.
    """
    texts = (text for lesson in lessons for text in (lesson.question, lesson.chosen))
    known = frozenset(word.strip(".,;:!?¿¡\"'()").removesuffix("'s") for t in texts for word in unaccented(t).split())
    taught = {
        wording_key(wording)
        for lesson in lessons
        for wording in (*trained_wordings(lesson.question, EVERY), *held_out_wordings(lesson.question, EVERY))
    }
    found: dict[tuple[Message, ...], None] = {}
    for lesson in lessons:
        if not is_manner(lesson.question, lesson.chosen, lesson.rejected):
            others = (text for text in neighbours(lesson.question, EVERY, known) if wording_key(text) not in taught)
            found |= dict.fromkeys(_asked(lesson, text) for text, _ in zip(others, range(count), strict=False))
    return list(found)


def _more(lesson: TrainingLesson, wordings: Sequence[str], settings: RowSettings) -> list[Row]:
    question, chosen, rejected = lesson.question, lesson.chosen, lesson.rejected
    language = language_of(question)
    rows = [
        Row(
            lesson.id,
            "dialogue",
            _after(_asked(lesson, wording), small_talk(language, question, number)),
            chosen,
            rejected,
        )
        for number, wording in enumerate(wordings[: settings.dialogues])
    ]
    if is_manner(question, chosen, rejected):
        return rows
    told = [] if leans(question) else statements(question, chosen, settings.statements)
    sure = confirmations(question, chosen, rejected, settings.confirmations)
    rows += [Row(lesson.id, "statement", _asked(lesson, text), answer) for text, answer in told]
    rows += [Row(lesson.id, "confirmation", _asked(lesson, text), answer) for text, answer in sure]
    return rows


def _asked(lesson: TrainingLesson, text: str) -> tuple[Message, ...]:
    return (*lesson.messages[:-1], Message("user", text))


def _after(messages: tuple[Message, ...], turn: tuple[Message, Message]) -> tuple[Message, ...]:
    """The conversation with a turn put before it, but after what is said by the system."""
    start = 1 if messages[0].role == "system" else 0
    return (*messages[:start], *turn, *messages[start:])
