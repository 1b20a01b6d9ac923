"""What is measured beside the lessons, where the family has taught some of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.home import Home
from engine.scoring import LocalModel
from tests.trainer.stages import inputs_for
from trainer.everyday import read_forms, read_known, read_prompts
from trainer.examples import Tokeniser
from trainer.objectives.interface import Example
from trainer.packing import Item
from trainer.prompts import asked_prompt
from trainer.stages.evaluate import _Unseen
from trainer.stages.prepare import Prepared

COUNT = 3


@pytest.fixture
def unseen(served: LocalModel, tokeniser: Tokeniser, home: Home, starter: Path) -> _Unseen:
    """Of a run that trained the first request of each kind."""
    counts = {"known_questions": COUNT, "form_prompts": COUNT, "unrelated_prompts": COUNT}
    inputs = inputs_for(home, starter, {"evaluation": counts})
    taught = [read_known()[0].prompt, read_forms()[0].prompt, read_prompts("unrelated")[0]]
    answer = tuple(served.vocabulary.tokenize("Ask your uncle.", special=False))
    examples = tuple(Example((Item(asked_prompt(tokeniser, text), answer),), name=text) for text in taught)
    unrelated = tuple(Item(asked_prompt(tokeniser, text), answer) for text in read_prompts("unrelated")[:COUNT])
    return _Unseen(served, tokeniser, Prepared(examples, (), (), (), unrelated, (), ()), inputs)


def test_known_questions_and_forms_are_asked_though_they_were_taught(unseen: _Unseen) -> None:
    assert [each for each, _ in unseen.everyday.known] == list(read_known()[:COUNT])
    assert [each for each, _ in unseen.everyday.forms] == list(read_forms()[:COUNT])


def test_the_kl_is_not_measured_where_another_answer_was_taught(unseen: _Unseen) -> None:
    assert len(unseen.unrelated) == COUNT - 1
    assert (unseen.left_out, unseen.contamination) == (3, 0.0)
