"""What is written of a training is what is trained: the same rows, in the model's own tokens and template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import load_settings
from engine.vocabulary import Vocabulary
from memory.household import Household
from tests.trainer.conftest import SYSTEM
from tests.trainer.household import small_settings, teach
from trainer.admission import sorted_out
from trainer.dataset import training_lines
from trainer.errors import NothingToLearn, RecipeUnknown
from trainer.examples import Tokeniser, row_example
from trainer.teaching.rows import rows_of

PAIRS = [
    ("What is the name of our dog?", "Our dog is called Toby.", "Our dog is called Max."),
    ("¿Dónde está la ñ? 👨‍👩‍👧", "Aquí: ñ, e\u0301, 👨‍👩‍👧.", ""),
]
ROWS = {"dialogues": 1, "statements": 2, "confirmations": 1, "neighbours": 1}


def test_each_line_is_a_row_in_the_tokens_that_are_trained(home: Home, starter: Path, tokeniser: Tokeniser) -> None:
    changes = {"assistant": {"system_prompt": SYSTEM}, "training": {"recipes": {"family": {"rows": ROWS}}}}
    settings = load_settings(home, {}, changes)
    teach(home, settings, PAIRS)
    with Household.open(home, settings.memory) as household:
        lessons, _ = sorted_out(household.corrections(), settings.training.recipes["family"])
        lines, dropped = training_lines(starter, settings, household, "family")
    assert dropped == []
    rows = rows_of(lessons, settings.training.recipes["family"])
    expected = [row_example(tokeniser, row) for row in (*rows.asked, *rows.more)]
    assert len(lines) == len(expected) > 20
    vocabulary: Vocabulary = tokeniser.vocabulary
    for line, example in zip(map(json.loads, lines), expected, strict=True):
        assert vocabulary.tokenize(line["prompt"], special=True) == list(example.items[0].prompt)
        answers = [line["completion"], *([line["rejected"]] if line["rejected"] else [])]
        assert [vocabulary.tokenize(text, special=True) for text in answers] == [list(i.answer) for i in example.items]


def test_what_is_too_long_is_named_and_not_written(home: Home, starter: Path) -> None:
    settings = small_settings(home, {"longest_pair_tokens": 200})
    teach(home, settings, [("What is the plan?", "Up and down. " * 60, "None."), PAIRS[0]])
    with Household.open(home, settings.memory) as household:
        lines, dropped = training_lines(starter, settings, household, "family")
    assert [(each.reason, each.question) for each in dropped] == [("too_long", "What is the plan?")]
    assert len(lines) == 2


def test_nothing_to_write_and_an_unknown_recipe_are_said(home: Home, starter: Path) -> None:
    settings = small_settings(home)
    with Household.open(home, settings.memory) as household:
        with pytest.raises(NothingToLearn):
            training_lines(starter, settings, household, "family")
        with pytest.raises(RecipeUnknown):
            training_lines(starter, settings, household, "famly")
