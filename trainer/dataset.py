"""What a training would train, as JSON lines with the chat template applied, for people and for other trainers.

A line holds ``prompt``, ``completion`` and ``rejected`` (empty where nothing is known to be wrong), texts that hold the
control tokens of the model, beside the ``lesson`` and its ``kind`` of row.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from configs.settings import Settings
from engine.errors import TemplateBroken
from engine.gguf import check_gguf
from engine.native import Model
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary
from memory.household import Household
from trainer.beginning import known_recipe
from trainer.defence import family_lessons
from trainer.errors import NothingToLearn
from trainer.examples import Tokeniser, check_template
from trainer.lessons import Dropped, unrenderable
from trainer.teaching.rows import Row, rows_of


def training_lines(
    model: Path, settings: Settings, household: Household, recipe_name: str
) -> tuple[list[str], list[Dropped]]:
    """The lines, without line feeds, and the lessons that are left out. ``model``: the served base.

    Raises RecipeUnknown, NothingToLearn, TemplateNotTrainable, ModelBroken.
    """
    training, recipe = settings.training, known_recipe(settings, recipe_name)
    lessons, dropped = family_lessons(household, training.defence, recipe)
    if not lessons:
        raise NothingToLearn(dropped=len(dropped))
    rows = rows_of(lessons, recipe)
    check_gguf(model)
    loaded = Model(model, vocab_only=True)
    try:
        vocabulary = Vocabulary(loaded)
        template = ChatTemplate.of(loaded.template(), vocabulary, datetime.now)
        tokeniser = Tokeniser(template, vocabulary, settings.assistant.system_prompt)
        check_template(tokeniser, model)
        lines: dict[Row, str] = {}
        too_long: set[str] = set()
        unwritten: dict[str, TemplateBroken] = {}
        for row in (*rows.asked, *rows.more):
            try:
                line, length = _line(tokeniser, row)
            except TemplateBroken as error:
                unwritten[row.lesson] = error
                continue
            if length <= training.longest_pair_tokens:
                lines[row] = line
            elif row.kind == "question":
                too_long.add(row.lesson)
    finally:
        loaded.close()
    dropped += [Dropped(each.id, "too_long", each.question) for each in lessons if each.id in too_long]
    dropped += [unrenderable(each.id, each.question, unwritten[each.id]) for each in lessons if each.id in unwritten]
    return [line for row, line in lines.items() if row.lesson not in {*too_long, *unwritten}], dropped


def _line(tokeniser: Tokeniser, row: Row) -> tuple[str, int]:
    """A row as JSON, and the tokens of the longer one of its pairs."""
    answers = [row.chosen, *([row.rejected] if row.rejected else [])]
    items = [tokeniser.item(row.messages, answer) for answer in answers]
    text = tokeniser.vocabulary.text
    fields = {
        "lesson": row.lesson,
        "kind": row.kind,
        "prompt": text(items[0].prompt),
        "completion": text(items[0].answer),
        "rejected": text(items[1].answer) if row.rejected else "",
    }
    return json.dumps(fields, ensure_ascii=False), max(item.length for item in items)
