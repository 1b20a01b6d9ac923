"""What a stage's result depends on, and what not."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from engine.served import AdapterFile
from tests.project import ROOT
from tests.trainer.stages import inputs_for
from trainer.lessons import TrainingLesson
from trainer.onward import Onward
from trainer.pipeline import keys as keys_module
from trainer.pipeline.keys import commit, key_of
from trainer.pipeline.sources import graph_for, sources_of
from trainer.run_files import Inputs
from trainer.searching.choice import Choice

BASE = Path("base.gguf")


def keys(inputs: Inputs) -> dict[str, str]:
    """Of every stage, as if each before had left what it left before."""
    digests = {name: artifact.sha256 for name, artifact in sources_of(inputs).items()}
    digests |= {name: f"made by {name}" for name in inputs.stages}
    return {
        step.name: key_of(step, inputs, {argument: digests[source] for argument, source in step.takes.items()})
        for step in graph_for(inputs).steps
        if step.name in inputs.stages
    }


def changed(before: Inputs, after: Inputs) -> set[str]:
    """The stages that the change is for."""
    old, new = keys(before), keys(after)
    return {name for name in old if old[name] != new[name]}


ALL = {"prepare", "train", "export", "evaluate"}


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({"seed": 8}, ALL),
        ({"recipes": {"family": {"lora": {"rank": 4}}}}, ALL),
        ({"gate": {"unrelated_kl": 0.1}}, {"export", "evaluate"}),
        ({"budget": {"run_seconds": 9}}, set()),
        ({"night": {"pairs": 9}}, set()),
        ({"search": {"seconds": 9}}, set()),
        ({"recipes": {"dpo": {"batch": 9}}}, set()),
    ],
)
def test_settings_count_where_they_can_matter(home: Home, settings: dict[str, Any], stages: set[str]) -> None:
    assert changed(inputs_for(home, BASE, {}), inputs_for(home, BASE, settings)) == stages


def test_each_input_counts_for_the_stages_that_take_it(home: Home, dog: TrainingLesson) -> None:
    inputs = inputs_for(home, BASE, {})
    adapter = AdapterFile(Path("ab") / ("0" * 62), 1.0)
    assert changed(inputs, replace(inputs, lessons=(dog,))) == {"prepare", "export", "evaluate"}
    assert changed(inputs, replace(inputs, current_adapters=(adapter,))) == {"evaluate"}
    assert changed(inputs, replace(inputs, base_sha256="1" * 64)) == ALL
    assert changed(inputs, replace(inputs, beneath=(adapter,))) == ALL
    onward = Onward(adapter.path, "v1", "r0001", 1, frozenset(["dog"]))
    assert changed(inputs, replace(inputs, onward=onward)) == {"train"}
    assert changed(replace(inputs, onward=onward), replace(inputs, onward=replace(onward, run="r2", row=2))) == set()


def test_chosen_numbers_count_as_the_recipes_own(home: Home) -> None:
    inputs = inputs_for(home, BASE, {})
    other = Choice(0.001, 2, 4)
    assert changed(inputs, replace(inputs, choice=other)) == ALL
    assert changed(inputs, replace(inputs, choice=Choice.of(inputs.recipe))) == set()


def test_where_files_lie_and_which_run_it_is_do_not_count(home: Home, tmp_path: Path) -> None:
    inputs = inputs_for(home, BASE, {})
    elsewhere = replace(inputs, run="r0009", base=tmp_path / "base.gguf", busy_flag=tmp_path / "busy", cache=tmp_path)
    assert changed(inputs, elsewhere) == set()


def test_the_commit_is_that_of_this_checkout_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert commit.__wrapped__() == (done.stdout.strip() if done.returncode == 0 else "")
    # Below a repository of something else, as where a home folder is one.
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(keys_module, "ROOT", tmp_path / "lib")
    assert commit.__wrapped__() == ""
