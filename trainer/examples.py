"""From lessons and prompts to examples: tokens by the served model's own vocabulary and template (contract 1)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from configs.sections.training import OnwardSettings, RecipeSettings
from engine.errors import TemplateBroken
from engine.messages import Message, under
from engine.prompt import render_pair
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary
from trainer.errors import TemplateNotTrainable
from trainer.lessons import TrainingLesson, under_system
from trainer.objectives.apo_zero import ApoZero
from trainer.objectives.distillation import Distillation
from trainer.objectives.interface import Example, Objective, Part
from trainer.objectives.kto import Kto
from trainer.objectives.likelihood import Likelihood
from trainer.objectives.preference import Preference
from trainer.objectives.replay import Replay
from trainer.packing import Item
from trainer.teaching.rows import Row, question_rows

# What templates mark turns with: <|im_start|>, <end_of_turn>.
MARKS = re.compile(r"<\|[^<>|\s]+\|>|<[a-z]+_of_[a-z]+>")


@dataclass(frozen=True)
class Tokeniser:
    """The served model's template and vocabulary, and the system prompt that the assistant speaks under."""

    template: ChatTemplate
    vocabulary: Vocabulary
    system_prompt: str

    def item(self, messages: Sequence[Message], answer: str) -> Item:
        """A prompt and its answer as tokens."""
        prompt, tokens = render_pair(self.template, self.vocabulary, self.under_system(messages), answer)
        return Item(tuple(prompt), tuple(tokens))

    def under_system(self, messages: Sequence[Message]) -> list[Message]:
        """The conversation as the assistant would send it."""
        return under_system(messages, self.system_prompt)


def check_template(tokeniser: Tokeniser, model: Path) -> None:
    """Raises TemplateNotTrainable where the template marks turns with what is no token, or ends no answer with one."""
    vocabulary = tokeniser.vocabulary
    conversation = tokeniser.under_system([Message("user", "?")])
    try:
        text = tokeniser.template.render([*conversation, Message("assistant", "!")], add_generation_prompt=False)
        for mark in MARKS.findall(text):
            if len(vocabulary.tokenize(mark, special=True)) != 1:
                raise TemplateNotTrainable(path=str(model), reason=f"{mark} is no token")
        render_pair(tokeniser.template, vocabulary, conversation, "!")
    except TemplateBroken as error:
        raise TemplateNotTrainable(path=str(model), reason=error.facts["reason"]) from error


def asked(lesson: TrainingLesson, wording: str) -> list[Message]:
    """The lesson's conversation with its question asked as ``wording``."""
    return [*lesson.messages[:-1], Message("user", wording)]


def lesson_examples(tokeniser: Tokeniser, lesson: TrainingLesson, wordings: Sequence[str]) -> list[Example]:
    """One example a wording of the lesson's question; all but the first, its own, are trained in turn."""
    first, *others = [row_example(tokeniser, row) for row in question_rows(lesson, wordings)]
    return [first, *(replace(example, in_turn=True) for example in others)]


def row_example(tokeniser: Tokeniser, row: Row) -> Example:
    """The chosen answer, and the rejected one where there is one."""
    answers = [row.chosen, *([row.rejected] if row.rejected else [])]
    return Example(tuple(tokeniser.item(row.messages, answer) for answer in answers), name=row.lesson)


def shown_item(tokeniser: Tokeniser, lesson: TrainingLesson, row: Row) -> Item:
    """A row of ``lesson`` with the lesson before its question: as an exchange, and as a line over the question.

    So the assistant shows a recalled lesson in its form ``both``, in which the base is surest of the correction
    (docs/decisions/training-objectives.md).
    """
    *before, question = row.messages
    exchange = (Message("user", lesson.question), Message("assistant", lesson.chosen))
    asked_now = Message("user", under([lesson.chosen], question.content))
    return tokeniser.item([*before, *exchange, asked_now], row.chosen)


@dataclass(frozen=True)
class Corpus:
    """Everything that is trained: examples of the lessons (with references for preferences) and of the replay.

    ``learned``: lessons, by name, that are only gone over again. ``ratings``: groups of rated answers.
    ``distilled``: by what is trained of a lesson's example, the example that prompt distillation trains beside it.
    """

    lessons: tuple[Example, ...]
    replay: tuple[Example, ...]
    ratings: tuple[Example, ...] = ()
    distilled: Mapping[Item, Example] = field(default_factory=dict)
    learned: frozenset[str] = frozenset()

    def steps(self, recipe: RecipeSettings, seed: int, epoch: int) -> list[list[Part]]:
        """The steps of one epoch: the lessons' examples whose turn it is, in an order of its own; beside them every
        group of ratings once, and replay in turn. The number of steps is the same in each.
        """
        order = random.Random(seed * 1_000_003 + epoch)  # noqa: S311 - not for secrets
        lessons = self._whose_turn_it_is(recipe.wordings_an_epoch - 1, epoch)
        lessons += self._gone_over(len(lessons), recipe.onward, epoch, order)
        replay, ratings = list(self.replay), list(self.ratings)
        for each in (lessons, replay, ratings):
            order.shuffle(each)
        batches = [lessons[start : start + recipe.batch] for start in range(0, len(lessons), recipe.batch)]
        share = recipe.replay.batch or -(-len(replay) // len(batches))
        likelihood, preference, rating = Likelihood(), _preference(recipe), Kto(recipe.rating_beta)
        distillation, kept = Distillation(), Replay()
        steps = []
        for number, batch in enumerate(batches):
            beside = [replay[(number * share + place) % len(replay)] for place in range(min(share, len(replay)))]
            pairs = tuple(example for example in batch if len(example.items) > 1)
            chosen = tuple(Example(example.items[:1], name=example.name) for example in batch)
            distilled = tuple(self.distilled[each.items[0]] for each in batch if each.items[0] in self.distilled)
            parts = [Part(likelihood, chosen, recipe.likelihood_weight)]
            if recipe.preference_weight and pairs:
                parts.append(Part(preference, pairs, recipe.preference_weight))
            rated = ratings[number * len(ratings) // len(batches) : (number + 1) * len(ratings) // len(batches)]
            if recipe.rating_weight and rated:
                parts.append(Part(rating, tuple(rated), recipe.rating_weight))
            if recipe.distillation_weight and distilled:
                parts.append(Part(distillation, distilled, recipe.distillation_weight))
            if recipe.replay.weight and beside:
                parts.append(Part(kept, tuple(beside), recipe.replay.weight))
            steps.append(parts)
        return steps

    def _whose_turn_it_is(self, count: int, epoch: int) -> list[Example]:
        """What is always trained, and the next ``count`` of each lesson's other wordings, around and around."""
        waiting: dict[str, list[Example]] = {}
        new = [example for example in self.lessons if example.name not in self.learned]
        for example in new:
            if example.in_turn:
                waiting.setdefault(example.name, []).append(example)
        found = [example for example in new if not example.in_turn]
        for others in waiting.values():
            most = min(count, len(others))
            found += [others[(epoch * most + place) % len(others)] for place in range(most)]
        return found

    def _gone_over(self, rows: int, settings: OnwardSettings, epoch: int, order: random.Random) -> list[Example]:
        """Those of the learned lessons that this epoch goes over beside ``rows`` of new ones, around and around: each
        one's question as it was asked, then wordings that ``order`` draws.
        """
        known: dict[str, list[Example]] = {}
        for example in self.lessons:
            if example.name in self.learned:
                known.setdefault(example.name, []).append(example)
        visits = [(number, examples) for number in range(settings.wordings_an_epoch) for examples in known.values()]
        count = min(round(settings.share * rows), len(visits))
        turn = (visits[(epoch * count + place) % len(visits)] for place in range(count))
        return [order.choice(examples) if number else examples[0] for number, examples in turn]


def _preference(recipe: RecipeSettings) -> Objective:
    """What teaches the chosen answer over the rejected one."""
    return (
        ApoZero(recipe.preference_beta) if recipe.preference_loss == "apo_zero" else Preference(recipe.preference_beta)
    )
