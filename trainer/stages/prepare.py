"""Lessons and prompts become tokens; the base answers the everyday prompts. Writes ``prepare/data.json``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import TemplateBroken
from trainer.errors import NothingToLearn
from trainer.everyday import read_prompts
from trainer.examples import Tokeniser, asked, check_template, lesson_examples, row_example, shown_item
from trainer.lessons import Dropped, TrainingLesson, unrenderable
from trainer.objectives.interface import Example
from trainer.packing import Item
from trainer.pipeline.artifacts import BaseWeights, PreferencePairs, TrainingData
from trainer.prompts import asked_alone, base_answers, base_replies, prose
from trainer.rated import Rated
from trainer.ratings import Rating
from trainer.run_files import read_json, write_json
from trainer.stages.context import StageContext
from trainer.teaching.rows import Row, neighbours_of, rows_of, unseen_wordings
from trainer.wordings.by_model import reworded, translated


@dataclass(frozen=True)
class Question:
    """A wording of a lesson's question that is measured. ``chosen``: what it has to say, as tokens."""

    lesson: str
    held_out: bool
    text: str
    prompt: tuple[int, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True)
class Prepared:
    """Everything the later stages need as tokens.

    ``other_language``: questions of lessons in the language in which they were not asked.
    ``taught``: for prompt distillation, what is trained and what the base reads, of equal answers; empty without it.
    """

    examples: tuple[Example, ...]
    ratings: tuple[Rated, ...]
    taught: tuple[tuple[Item, Item], ...]
    replay: tuple[Item, ...]
    unrelated: tuple[Item, ...]
    questions: tuple[Question, ...]
    other_language: tuple[Question, ...]


def prepare(context: StageContext, pairs: PreferencePairs, base: BaseWeights) -> TrainingData:
    """Raises NothingToLearn when no lesson fits the length limit, and TemplateNotTrainable."""
    inputs, settings = context.inputs, context.inputs.training
    with context.served_model(base) as served:
        tokeniser = Tokeniser(served.template, served.vocabulary, inputs.system_prompt)
        check_template(tokeniser, base.path)
        examples, questions, kept, dropped = [], [], [], list(pairs.dropped)
        ask = partial(
            base_replies,
            served,
            tokeniser,
            inputs.recipe.replay.answer_tokens,
            settings.longest_pair_tokens,
            inputs.cache,
            inputs.ground,
        )
        by_model = reworded(pairs.lessons, inputs.recipe.model_wordings, ask)
        rows = rows_of(pairs.lessons, inputs.recipe, by_model)
        held_out = settings.evaluation.held_out_wordings
        unseen = unseen_wordings([*pairs.lessons, *pairs.known], (*rows.asked, *rows.more), held_out)
        for lesson in pairs.lessons:
            try:
                made = lesson_examples(tokeniser, lesson, rows.wordings[lesson.id])
                asked_ways = questions_of(tokeniser, lesson, unseen[lesson.id])
            except TemplateBroken as error:
                # It renders others, as ``check_template`` has seen.
                dropped.append(unrenderable(lesson.id, lesson.question, error))
                continue
            if _longest(made, asked_ways) > settings.longest_pair_tokens:
                dropped.append(Dropped(lesson.id, "too_long", lesson.question))
            else:
                examples += made
                questions += asked_ways
                kept.append(lesson)
        ratings, left = _ratings(tokeniser, pairs.ratings, settings.longest_pair_tokens)
        dropped += left
        for left_out in dropped:
            context.emit("measure", 0.1, {"name": "lesson_dropped", **asdict(left_out)})
        if not examples:
            raise NothingToLearn(dropped=len(dropped))
        # What cannot be asked of what is not trained here was not trained before either.
        known = _measurable(tokeniser, pairs.known, unseen, settings.longest_pair_tokens)
        questions += [question for ways in known.values() for question in ways]
        fitting = {lesson.id: lesson for lesson in kept}
        elsewhere = translated(kept[: settings.evaluation.other_language], ask)
        other_language = _in_other_language(tokeniser, kept, elsewhere, settings.longest_pair_tokens)
        made = [row_example(tokeniser, row) for row in rows.more if row.lesson in fitting]
        examples += [each for each in made if _longest([each]) <= settings.longest_pair_tokens]
        shown = [*rows.asked, *rows.more] if inputs.recipe.distillation_weight else []
        taught = _taught(tokeniser, [(fitting[row.lesson], row) for row in shown if row.lesson in fitting], examples)
        cached = (inputs.cache, inputs.ground)
        prompts = asked_alone(read_prompts("replay")[: inputs.recipe.replay.prompts])
        replay = base_answers(served, tokeniser, prompts, inputs.recipe.replay.answer_tokens, *cached)
        others = neighbours_of(kept, inputs.recipe.rows.neighbours)
        kept_right = [lesson.messages for lesson in known]
        replay += base_answers(served, tokeniser, [*others, *kept_right], inputs.recipe.replay.answer_tokens, *cached)
        replay += prose(served.vocabulary, inputs.recipe.replay.prose, inputs.recipe.replay.answer_tokens)
        context.emit("progress", 0.7, {})
        prompts = asked_alone(read_prompts("unrelated")[: settings.evaluation.unrelated_prompts])
        unrelated = base_answers(served, tokeniser, prompts, settings.evaluation.answer_tokens, *cached)
    context.report.update(
        lessons=len({example.name for example in examples}),
        examples=len(examples),
        neighbours=len(others),
        model_wordings=sum(map(len, by_model.values())),
        other_language=len(other_language),
        ratings=len(ratings),
        dropped=[asdict(d) for d in dropped],
    )
    write_json(
        context.files.data,
        {
            "examples": [
                {
                    "lesson": example.name,
                    "in_turn": example.in_turn,
                    "items": [_item_json(item) for item in example.items],
                }
                for example in examples
            ],
            "ratings": [{**_item_json(rated.item), "good": rated.good} for rated in ratings],
            "taught": [[_item_json(item) for item in both] for both in taught],
            "replay": [_item_json(item) for item in replay],
            "unrelated": [_item_json(item) for item in unrelated],
            "questions": [asdict(question) for question in questions],
            "other_language": [asdict(question) for question in other_language],
        },
    )
    return TrainingData.at(context.files.data)


def read_prepared(path: Path) -> Prepared:
    """What ``prepare`` wrote to ``path``. Raises TrainingDataBroken."""
    data = read_json(path)
    return Prepared(
        examples=tuple(
            Example(tuple(_item(item) for item in example["items"]), name=example["lesson"], in_turn=example["in_turn"])
            for example in data["examples"]
        ),
        ratings=tuple(Rated(_item(rated), rated["good"]) for rated in data["ratings"]),
        taught=tuple((_item(item), _item(shown)) for item, shown in data["taught"]),
        replay=tuple(_item(item) for item in data["replay"]),
        unrelated=tuple(_item(item) for item in data["unrelated"]),
        questions=tuple(map(_question, data["questions"])),
        other_language=tuple(map(_question, data["other_language"])),
    )


def questions_of(tokeniser: Tokeniser, lesson: TrainingLesson, unseen: Sequence[str]) -> list[Question]:
    """A lesson's question as it was asked, and in these untrained wordings."""
    texts = [(lesson.question, False), *((text, True) for text in unseen)]
    found = []
    for text, held_out in texts:
        item = tokeniser.item(asked(lesson, text), lesson.chosen)
        found.append(Question(lesson.id, held_out, text, item.prompt, item.answer))
    return found


def _measurable(
    tokeniser: Tokeniser, known: Sequence[TrainingLesson], unseen: Mapping[str, Sequence[str]], most_tokens: int
) -> dict[TrainingLesson, list[Question]]:
    """What is asked of lessons beside what is trained of them here, where it can be asked."""
    found = {}
    for lesson in known:
        with contextlib.suppress(TemplateBroken):
            ways = questions_of(tokeniser, lesson, unseen[lesson.id])
            if _longest([], ways) <= most_tokens:
                found[lesson] = ways
    return found


def _in_other_language(
    tokeniser: Tokeniser, lessons: Sequence[TrainingLesson], put: Mapping[str, str], most_tokens: int
) -> list[Question]:
    """What is asked of lessons in the other language, where they were ``put`` into it (by id), and it can be asked."""
    asked_there = [lesson for lesson in lessons if lesson.id in put]
    ways = _measurable(tokeniser, asked_there, {lesson: [text] for lesson, text in put.items()}, most_tokens)
    return [question for each in ways.values() for question in each if question.held_out]


def _taught(
    tokeniser: Tokeniser, rows: Sequence[tuple[TrainingLesson, Row]], examples: Sequence[Example]
) -> list[tuple[Item, Item]]:
    """What is trained of each of these rows, where it is, and what the base is shown for it."""
    trained = {example.items[0] for example in examples}
    both = [(row_example(tokeniser, row).items[0], shown_item(tokeniser, lesson, row)) for lesson, row in rows]
    return [(item, shown) for item, shown in both if item in trained]


def _ratings(tokeniser: Tokeniser, ratings: Sequence[Rating], most_tokens: int) -> tuple[list[Rated], list[Dropped]]:
    """The ratings as tokens, and those that are too long or cannot be written."""
    rated, dropped = [], []
    for rating in ratings:
        try:
            item = tokeniser.item(rating.messages, rating.answer)
        except TemplateBroken as error:
            dropped.append(unrenderable(rating.id, rating.question, error))
            continue
        if item.length > most_tokens:
            dropped.append(Dropped(rating.id, "too_long", rating.question))
        else:
            rated.append(Rated(item, rating.good))
    return rated, dropped


def _longest(examples: list[Example], questions: Sequence[Question] = ()) -> int:
    trained = [item.length for example in examples for item in example.items]
    return max(*trained, *(len(question.prompt) + len(question.chosen) for question in questions), 0)


def _question(value: dict[str, Any]) -> Question:
    return Question(value["lesson"], value["held_out"], value["text"], tuple(value["prompt"]), tuple(value["chosen"]))


def _item_json(item: Item) -> dict[str, Any]:
    return {"prompt": list(item.prompt), "answer": list(item.answer)}


def _item(value: dict[str, Any]) -> Item:
    return Item(tuple(value["prompt"]), tuple(value["answer"]))
