"""The stage that trains, as the process that it is, on a small random model: what it tells of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from memory import runlog
from tests.trainer.random_model import write_random_model
from tests.trainer.stages import inputs_for, run_stage
from trainer.run_files import RunFiles, write_json

PAIRS: list[dict[str, Any]] = [
    {
        "lesson": "dog",
        "in_turn": False,
        "items": [{"prompt": [1, 2, 3], "answer": [9, 8]}, {"prompt": [1, 2, 3], "answer": [9, 7]}],
    },
    {
        "lesson": "key",
        "in_turn": False,
        "items": [{"prompt": [1, 2, 4], "answer": [5, 5, 6]}, {"prompt": [1, 2, 4], "answer": [8]}],
    },
    {"lesson": "tea", "in_turn": False, "items": [{"prompt": [1, 2, 5], "answer": [4, 6]}]},
]


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path / "run")


def train(home: Home, files: RunFiles, recipe: dict[str, Any], data: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the stage with the family's recipe and these changes; its report."""
    base = files.folder.parent / "tiny.gguf"
    write_random_model(base, "llama", layers=2)
    empty: dict[str, Any] = {"ratings": [], "taught": [], "replay": [], "unrelated": []}
    empty |= {"questions": [], "other_language": []}
    write_json(files.data, empty | {"examples": PAIRS} | (data or {}))
    changes = {"recipes": {"family": {"optimiser": {"epochs": 3, "least_steps": 0}, **recipe}}}
    report = run_stage("train", files, inputs_for(home, base, changes))
    assert files.weights.is_file()
    return report


def steps(files: RunFiles) -> list[dict[str, Any]]:
    """The facts of every step that the stage told of."""
    return [dict(event.facts or {}) for event in runlog.read(files.folder)[0] if event.kind == "step"]


@pytest.mark.parametrize(("loss", "name"), [("dpo", "preference"), ("apo_zero", "apo_zero")])
def test_every_training_of_preferences_watches_the_chosen_answers(
    home: Home, files: RunFiles, loss: str, name: str
) -> None:
    report = train(home, files, {"preference_weight": 0.5, "preference_loss": loss})
    told = steps(files)
    assert [len(report["chosen_log_ratio"]), len(told)] == [3, 3]
    assert told[0]["chosen_log_ratio"] == pytest.approx(0.0, abs=1e-2)
    assert report["chosen_log_ratio"] == [pytest.approx(facts["chosen_log_ratio"]) for facts in told]
    assert report["chosen_log_ratio"][-1] > 0
    assert report["warnings"] == []
    assert {"likelihood", name, "rejected_log_ratio"} <= set(told[0])


def test_a_recipe_with_prompt_distillation_trains_towards_the_base_that_is_shown_the_lesson(
    home: Home, files: RunFiles
) -> None:
    taught = [[pair["items"][0], pair["items"][0] | {"prompt": [1, 7, *pair["items"][0]["prompt"]]}] for pair in PAIRS]
    recipe = {
        "likelihood_weight": 0.0,
        "distillation_weight": 1.0,
        "distillation_kept_tokens": 16,
        "optimiser": {"epochs": 8, "least_steps": 0, "learning_rate": 0.01},
    }
    report = train(home, files, recipe, {"taught": taught})
    told = [facts["distillation"] for facts in steps(files)]
    assert 0 < told[-1] < told[0] / 2
    assert "chosen_log_ratio" not in report


def test_ratings_are_trained_beside_the_lessons(home: Home, files: RunFiles) -> None:
    ratings = [
        {"prompt": [1, 2, 30], "answer": [40, 41], "good": True},
        {"prompt": [1, 2, 31], "answer": [50, 51, 52], "good": False},
        {"prompt": [1, 2, 32], "answer": [60], "good": False},
    ]
    recipe = {"rating_weight": 1.0, "optimiser": {"epochs": 8, "least_steps": 0, "learning_rate": 0.01}}
    train(home, files, recipe, {"ratings": ratings})
    told = [facts["kto"] for facts in steps(files)]
    assert told[0] == pytest.approx(0.5, abs=1e-2)
    assert told[-1] < told[0] - 0.05


def test_the_report_tells_which_lesson_was_hard_to_learn(home: Home, files: RunFiles) -> None:
    # "tea" is contradicted: two answers to one question, of which each undoes the other.
    torn = [*PAIRS, {"lesson": "tea", "in_turn": False, "items": [{"prompt": [1, 2, 5], "answer": [8, 9]}]}]
    recipe = {"optimiser": {"epochs": 12, "least_steps": 0, "learning_rate": 0.01}}
    losses = {each["lesson"]: each for each in train(home, files, recipe, {"examples": torn})["lesson_losses"]}
    assert max(losses, key=lambda lesson: losses[lesson]["nats"]) == "tea"
    assert max(losses, key=lambda lesson: losses[lesson]["share"]) == "tea"
    assert sum(each["share"] for each in losses.values()) == pytest.approx(1.0)
