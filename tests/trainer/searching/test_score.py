"""Trainings are compared by questions that neither they nor the gate have seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.home import Home
from engine.messages import Message
from tests.trainer.stages import inputs_for
from trainer.examples import Tokeniser
from trainer.lessons import TrainingLesson
from trainer.run_files import Inputs
from trainer.stages.score import compared_questions
from trainer.teaching.rows import rows_of, unseen_wordings
from trainer.wordings.language import wording_key


def lesson(name: str, question: str, chosen: str) -> TrainingLesson:
    return TrainingLesson(name, (Message("user", question),), chosen, "")


DOG = lesson("dog", "What is the name of our dog?", "Our dog is called Toby.")
KEY = lesson("key", "Where do we keep the spare key?", "It is under the blue flowerpot.")
CAR = lesson("car", "¿De qué color es el coche?", "El coche es verde.")


def inputs(home: Home, base: Path, longest: int = 512) -> Inputs:
    changes = {"evaluation": {"held_out_wordings": 2}, "search": {"wordings": 2}, "longest_pair_tokens": longest}
    return inputs_for(home, base, changes, lessons=(DOG, CAR), known=(KEY,))


def test_they_are_asked_in_wordings_that_neither_training_nor_the_gate_has(
    home: Home, starter: Path, tokeniser: Tokeniser
) -> None:
    run = inputs(home, starter)
    asked = compared_questions(run, {"dog", "car", "key"}, tokeniser)
    assert [(each.lesson, each.held_out) for each in asked] == [
        *[("dog", False), ("dog", True), ("dog", True)],
        *[("car", False), ("car", True), ("car", True)],
        ("key", False),
    ]
    rows = rows_of(run.lessons, run.recipe)
    gates = unseen_wordings(run.lessons, (*rows.asked, *rows.more), run.training.evaluation.held_out_wordings)
    used = {wording_key(text) for texts in (*rows.wordings.values(), *gates.values()) for text in texts}
    assert len({each.text for each in asked}) == len(asked)
    assert not {wording_key(each.text) for each in asked if each.held_out} & used


@pytest.mark.parametrize("longest", [512, 16])
def test_what_is_not_trained_is_not_asked(home: Home, starter: Path, tokeniser: Tokeniser, longest: int) -> None:
    asked = compared_questions(inputs(home, starter, longest), {"dog", "key"}, tokeniser)
    assert {each.lesson for each in asked} == ({"dog", "key"} if longest == 512 else set())
    assert {each.lesson for each in compared_questions(inputs(home, starter), {"dog"}, tokeniser)} == {"dog"}
