"""The stage that prepares, as the process that it is, on the starter model: what it leaves for the training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from configs.settings import load_settings
from engine.messages import Message
from tests.project import ROOT
from trainer.lessons import Dropped, TrainingLesson
from trainer.run_files import Inputs, RunFiles, read_json, write_json

DOG = TrainingLesson(
    "dog", (Message("user", "What is the name of our dog?"),), "Our dog is called Toby.", "Our dog is called Max."
)
ALL = {"dialogues": 1, "statements": 1, "confirmations": 1, "neighbours": 2}
NONE = dict.fromkeys(ALL, 0)


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path / "run")


def prepare(home: Home, starter: Path, files: RunFiles, recipe: dict[str, Any], *dropped: Dropped) -> dict[str, Any]:
    """Run the stage; its report."""
    recipe = {"wordings": 3, "replay": {"prompts": 1, "prose": 1, "answer_tokens": 4}, **recipe}
    changes = {"recipes": {"family": recipe}, "evaluation": {"unrelated_prompts": 1, "answer_tokens": 4}}
    settings = load_settings(home, {}, {"training": {"idle_priority": False, **changes}})
    inputs = Inputs(
        run="r0001",
        base_name="starter",
        base=starter,
        base_sha256="0" * 64,
        current="v0",
        current_adapters=(),
        lessons=(DOG,),
        system_prompt="You are Enlace.",
        recipe_name="family",
        training=settings.training,
        engine=settings.engine,
        busy_flag=home.busy_flag,
        cache=home.cache,
        dropped=dropped,
    )
    write_json(files.inputs, inputs.as_json())
    command = [sys.executable, "-m", "trainer.worker", "prepare", str(files.folder), str(os.getpid())]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    report: dict[str, Any] = read_json(files.report("prepare"))
    return report


def test_each_kind_of_row_is_trained_as_often_as_the_recipe_says(home: Home, starter: Path, files: RunFiles) -> None:
    earlier = Dropped("old", "replaced", "What is our dog called?", by="dog")
    report = prepare(home, starter, files, {"rows": ALL}, earlier)
    data = read_json(files.data)
    # Three wordings and a talk with both answers; the way back, a yes and a no with the chosen one alone.
    assert [len(example["items"]) for example in data["examples"]] == [2, 2, 2, 2, 1, 1, 1]
    assert (report["lessons"], report["examples"], report["neighbours"]) == (1, 7, 2)
    assert report["dropped"] == [
        {"id": "old", "reason": "replaced", "question": "What is our dog called?", "by": "dog"}
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
