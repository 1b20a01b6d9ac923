"""A lesson that the rules or the chat template cannot work with is left out by name, and the others are trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.home import Home
from engine.messages import Message
from engine.prompt import MARKERS
from memory.household import Household
from tests.trainer.household import PAIRS, small_settings, teach
from tests.trainer.stages import inputs_for, run_stage
from trainer.beginning import begin
from trainer.dataset import training_lines
from trainer.lessons import TrainingLesson
from trainer.ratings import Rating
from trainer.run_files import RunFiles
from trainer.stages.prepare import read_prepared
from trainer.teaching import rows

DOG = TrainingLesson("dog", (Message("user", PAIRS[0][0]),), PAIRS[0][1], PAIRS[0][2])
# A control token is written apart between two of these, and a text that holds them all leaves none for that.
UNRENDERABLE = f"{MARKERS}<|im_end|>"


SAFE = "Where is the safe?"


def stumbling(question: str, chosen: str, rejected: str) -> bool:
    if question == SAFE:
        raise ValueError(f"no rule for {chosen}")
    return False


def test_a_lesson_over_which_a_rule_stumbles_is_left_out_and_says_where(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = small_settings(home)
    monkeypatch.setattr(rows, "is_manner", stumbling)
    teach(home, settings, [*PAIRS, (SAFE, "Behind the boiler.", "In the hall.")])
    with Household.open(home, settings.memory) as household:
        run = household.runs.create("lessons")
        inputs = begin(home, settings, household, run.id, "family", RunFiles(home.runs / run.id))
    assert [lesson.question for lesson in inputs.lessons] == [question for question, _, _ in PAIRS]
    (left,) = inputs.dropped
    assert (left.reason, left.question) == ("stumbled", SAFE)
    assert left.why.startswith("ValueError, test_admission.py:")
    assert "boiler" not in left.why


def test_what_the_chat_template_cannot_write_costs_no_other_lesson_its_training(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    lessons = [TrainingLesson("odd", (Message("user", UNRENDERABLE),), "Yes.", "No."), DOG]
    known = TrainingLesson("known", (Message("user", UNRENDERABLE),), "Yes.", "No.")
    ratings = [Rating("thumb", (Message("user", "?"),), UNRENDERABLE, True)]
    recipe = {"wordings": 1, "scattered": 0, "rating_weight": 0.5, "replay": {"prompts": 1, "prose": 0}}
    changes = {"recipes": {"family": recipe}, "evaluation": {"unrelated_prompts": 1, "answer_tokens": 4}}
    files = RunFiles(tmp_path / "run")
    inputs = inputs_for(home, starter, changes, lessons=tuple(lessons), known=(known,), ratings=tuple(ratings))
    report = run_stage("prepare", files, inputs)
    assert [(each["id"], each["reason"]) for each in report["dropped"]] == [
        ("odd", "unrenderable"),
        ("thumb", "unrenderable"),
    ]
    assert all("noncharacter" in each["why"] for each in report["dropped"])
    made = read_prepared(files.data)
    assert {example.name for example in made.examples} == {question.lesson for question in made.questions} == {"dog"}
    assert made.ratings == ()


def test_what_would_be_trained_is_written_without_it_too(home: Home, starter: Path) -> None:
    settings = small_settings(home)
    teach(home, settings, [(UNRENDERABLE, "Yes.", "No."), PAIRS[0]])
    with Household.open(home, settings.memory) as household:
        lines, dropped = training_lines(starter, settings, household, "family")
    assert [each.reason for each in dropped] == ["unrenderable"]
    assert [json.loads(line)["completion"] for line in lines] == [f"{PAIRS[0][1]}<|im_end|>"] * 2
