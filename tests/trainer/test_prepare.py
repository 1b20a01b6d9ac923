"""The stage that prepares, as the process that it is, on the starter model: what it leaves for the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from engine.messages import Message
from memory import runlog
from tests.trainer.stages import inputs_for, run_stage
from trainer.examples import Tokeniser
from trainer.lessons import Dropped, TrainingLesson
from trainer.rated import Rated
from trainer.ratings import Rating
from trainer.run_files import RunFiles, read_json
from trainer.stages.prepare import read_prepared

SYSTEM = "You are Enlace."
DOG = TrainingLesson(
    "dog", (Message("user", "What is the name of our dog?"),), "Our dog is called Toby.", "Our dog is called Max."
)
ALL = {"dialogues": 1, "statements": 1, "confirmations": 1, "neighbours": 2}
NONE = dict.fromkeys(ALL, 0)
FEW = {"prompts": 1, "prose": 1, "answer_tokens": 4}


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path / "run")


def prepare(
    home: Home, starter: Path, files: RunFiles, recipe: dict[str, Any], *dropped: Dropped, **more: Any
) -> dict[str, Any]:
    """Run the stage; its report."""
    recipe = {"wordings": 3, "scattered": 0, "replay": FEW, **recipe}
    changes = {"recipes": {"family": recipe}, "evaluation": {"unrelated_prompts": 1, "answer_tokens": 4}}
    inputs = inputs_for(home, starter, changes, lessons=(DOG,), system_prompt=SYSTEM, dropped=dropped, **more)
    return run_stage("prepare", files, inputs)


def test_each_kind_of_row_is_trained_as_often_as_the_recipe_says(home: Home, starter: Path, files: RunFiles) -> None:
    earlier = Dropped("old", "replaced", "What is our dog called?", by="dog")
    report = prepare(home, starter, files, {"rows": ALL}, earlier)
    data = read_json(files.data)
    # Three wordings and a talk with both answers; the way back, a yes and a no with the chosen one alone.
    assert [len(example["items"]) for example in data["examples"]] == [2, 2, 2, 2, 1, 1, 1]
    assert (report["lessons"], report["examples"], report["neighbours"]) == (1, 7, 2)
    assert report["dropped"] == [
        {"id": "old", "reason": "replaced", "question": "What is our dog called?", "by": "dog", "why": ""}
    ]
    # A prompt, two neighbours, a piece of prose.
    assert len(data["replay"]) == 4


def test_a_recipe_without_other_rows_trains_the_wordings_alone(home: Home, starter: Path, files: RunFiles) -> None:
    report = prepare(home, starter, files, {"rows": NONE})
    assert (report["examples"], report["neighbours"]) == (3, 0)
    assert len(read_json(files.data)["replay"]) == 2


def test_a_row_that_is_too_long_is_left_out_and_not_its_lesson(home: Home, starter: Path, files: RunFiles) -> None:
    whole = prepare(home, starter, files, {"rows": {**ALL, "dialogues": 3}})
    longest = max(
        len(item["prompt"]) + len(item["answer"]) for e in read_json(files.data)["examples"] for item in e["items"]
    )
    home.config_file.write_text(f"training:\n  longest_pair_tokens: {longest - 1}\n", encoding="utf-8")
    short = prepare(home, starter, files, {"rows": {**ALL, "dialogues": 3}})
    assert short["lessons"] == whole["lessons"] == 1
    assert 3 < short["examples"] < whole["examples"]


def test_a_recipe_that_distils_has_what_the_base_is_shown_for_every_row(
    home: Home, starter: Path, files: RunFiles
) -> None:
    prepare(home, starter, files, {"rows": ALL, "distillation_weight": 0.5})
    made = read_prepared(files.data)
    assert [item for item, _ in made.taught] == [example.items[0] for example in made.examples]
    for item, shown in made.taught:
        assert item.answer == shown.answer
        assert len(shown.prompt) > len(item.prompt) + len(DOG.question.split()) + 2 * len(DOG.chosen.split())


def test_ratings_are_prepared_as_they_were_given_and_one_that_is_too_long_is_named(
    home: Home, starter: Path, files: RunFiles, tokeniser: Tokeniser
) -> None:
    good = Rating("t1", (Message("system", SYSTEM), Message("user", "What is the sun?")), "A star.", True)
    long = Rating("t2", (Message("user", "And the moon?"),), "A rock. " * 300, False)
    prepare(home, starter, files, {"rows": NONE, "rating_weight": 0.5}, ratings=(good, long))
    made = read_prepared(files.data)
    assert made.ratings == (Rated(tokeniser.item(good.messages, good.answer), True),)
    assert made.taught == ()
    told = [event.facts for event in runlog.read(files.folder)[0] if event.kind == "measure" and event.facts]
    assert [(facts["question"], facts["reason"]) for facts in told] == [("And the moon?", "too_long")]


def test_what_the_base_rewords_is_trained_beside_what_the_rules_make_and_its_translation_is_only_measured(
    home: Home, starter: Path, files: RunFiles
) -> None:
    report = prepare(home, starter, files, {"rows": NONE, "model_wordings": 4, "replay": {**FEW, "answer_tokens": 24}})
    made = read_prepared(files.data)
    assert report["model_wordings"] > 0
    assert len(made.examples) == 3 + report["model_wordings"]
    measured = {question.prompt for question in (*made.questions[1:], *made.other_language)}
    assert not measured & {example.items[0].prompt for example in made.examples}
    assert report["other_language"] == len(made.other_language)
