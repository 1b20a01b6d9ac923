"""``enlace train plan|run|gate|review``: what is told of a manifest, and that one which was done is not done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.session import Session
from tests.app.conftest import Run

QUESTION = "What is the name of our dog?"
ADD = ["lessons", "add", "--question", QUESTION, "--chosen", "Our dog is called Toby.", "--rejected", "Luna."]


@pytest.fixture
def planned(here: Run, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A manifest's file, and the plan that is told of it."""
    here(*ADD)
    path = tmp_path / "night.yaml"
    done = here("train", "plan", "--to", str(path), "--json")
    assert done.code == 0
    return path, json.loads(done.out)


def test_a_plan_shows_the_graph_what_it_takes_and_that_nothing_speaks_against_it(here: Run) -> None:
    here(*ADD)
    done = here("train", "plan")
    assert done.code == 0
    for told in ("on 1 lesson", "prepare, base, begun", "EvaluationReport", "GFLOP", "Nothing speaks against it."):
        assert told in done.out


def test_without_lessons_there_is_nothing_to_plan(here: Run) -> None:
    done = here("train", "plan")
    assert done.code == 1
    assert "no shared correction" in done.err


def test_a_wrong_key_of_a_recipe_is_named_with_its_file_and_the_nearest(here: Run, tmp_path: Path) -> None:
    here(*ADD)
    (tmp_path / "mine.yaml").write_text("stages: {prepare: {pairs: pairs, base: bas}}")
    done = here("train", "plan", str(tmp_path / "mine.yaml"))
    assert done.code == 2
    assert "mine.yaml" in done.err
    assert "stages.prepare.base: bas" in done.err
    assert 'Did you mean "base"?' in done.err


@pytest.mark.parametrize("command", ["plan", "run", "gate", "review", "reproduce"])
def test_a_file_that_is_not_there_is_named(here: Run, tmp_path: Path, command: str) -> None:
    here(*ADD)
    done = here("train", command, str(tmp_path / "nothing.yaml"))
    assert done.code == 2
    assert "There is no file" in done.err


@pytest.mark.parametrize(
    ("command", "content", "told"),
    [
        ("run", b'{"prompt": "q"}\n{"prompt": "q"}\n', "is neither a recipe nor a manifest that I can read"),
        ("review", b"format: 2\n\xff\x00", "is neither a recipe nor a manifest that I can read"),
        ("run", None, "is neither a recipe nor a manifest that I can read: it is no plain file"),
        ("review", b"format: 2\npipeline: 1\n", 'because of "recipe": a manifest needs it'),
    ],
    ids=["lessons", "bytes", "folder", "half"],
)
def test_what_is_no_manifest_is_not_told_as_settings(
    here: Run, tmp_path: Path, command: str, content: bytes | None, told: str
) -> None:
    here(*ADD)
    path = tmp_path / "night.yaml"
    path.mkdir() if content is None else path.write_bytes(content)
    done = here("train", command, str(path))
    assert (done.code, told in done.err, "setting" in done.err) == (2, True, False), done.err
    assert "ENLACE_" not in done.err


def test_the_gate_is_told_no_word_of_recipes_where_there_is_no_such_training(here: Run) -> None:
    here(*ADD)
    done = here("train", "gate", "v0")
    assert (done.code, "recipe" in done.err, "enlace train history" in done.err) == (2, False, True)


def test_a_manifest_is_written_with_a_word_and_not_over_a_file_that_is_there(here: Run, tmp_path: Path) -> None:
    here(*ADD)
    mine, path = tmp_path / "mine.yaml", tmp_path / "night.yaml"
    mine.write_text("training: {seed: 7}\n")
    refused = here("train", "plan", str(mine), "--to", str(mine))
    assert (refused.code, refused.err.startswith(f"There is a {mine} already")) == (2, True)
    assert mine.read_text() == "training: {seed: 7}\n"
    assert f"The manifest was written to {path}." in here("train", "plan", str(mine), "--to", str(path)).out
    assert yaml.safe_load(path.read_text())["seed"] == 7


def test_a_manifest_says_it_all_and_nobodys_words(planned: tuple[Path, dict[str, Any]]) -> None:
    path, plan = planned
    assert yaml.safe_load(path.read_text()) == plan["manifest"]
    assert "Toby" not in path.read_text()


def test_a_review_says_each_reason(here: Run, planned: tuple[Path, dict[str, Any]]) -> None:
    path, plan = planned
    assert here("train", "review", str(path)).code == 0
    del plan["manifest"]["gate"]
    plan["manifest"]["base"]["sha256"] = "0" * 64
    path.write_text(yaml.safe_dump(plan["manifest"]))
    done = here("train", "review", str(path))
    assert done.code == 1
    assert "It has no gate" in done.out
    assert "base is not here as the manifest has it (000000000000)" in done.out
    assert done.out.endswith("Make a manifest of what is here now with `enlace train plan --to FILE`.\n")
    done = here("train", "run", str(path))
    assert done.code == 1
    assert "must not be run as it is: no_gate, stale" in done.err


def test_nobodys_file_opens_the_bounds_of_the_household(here: Run, session: Session, tmp_path: Path) -> None:
    here(*ADD)
    loose, manifest = tmp_path / "loose.yaml", str(tmp_path / "m.yaml")
    loose.write_text(
        "training: {gate: {lessons_right: 0, unrelated_kl: 1000}, evaluation: {unrelated_prompts: 1},"
        " budget: {run_seconds: 90000}}",
        "utf-8",
    )
    done = here("train", "plan", str(loose), "--to", manifest)
    assert done.code == 1
    reviewed = here("train", "review", manifest)
    assert reviewed.code == 1
    for told in (
        "training.gate.lessons_right is 0.0, and here it is 0.8.", "training.gate.unrelated_kl is 1000.0",
        "training.evaluation.unrelated_prompts is 1, and here it is 25.",
        "training.budget.run_seconds is 90000.0, and here it is 7200.0.", "enlace train gate --ship --why",
    ):  # fmt: skip
        assert told in done.out
        assert told in reviewed.out
    refused = here("train", "run", manifest)
    assert refused.code == 1
    assert "must not be run as it is: bound_loosened" in refused.err
    assert session.household.runs.list() == []
    # Set by the household itself they are its own bounds.
    session.home.config_file.write_text(loose.read_text("utf-8"), "utf-8")
    assert here("train", "review", manifest).code == 0


def test_what_was_done_is_not_done_again(here: Run, session: Session, planned: tuple[Path, dict[str, Any]]) -> None:
    path, plan = planned
    runs = session.household.runs
    run = runs.create("lessons")
    runs.finish(run.id, "held", summary={"manifests": [plan["identity"]]})
    done = here("train", "run", str(path))
    assert done.code == 3
    assert f"There is nothing to do: {run.id} has done exactly this" in done.out
    assert len(runs.list()) == 1


@pytest.mark.parametrize(("right", "code", "decision"), [(1.0, 0, "SHIP"), (0.1, 3, "HOLD: Lessons answered right")])
def test_the_gate_judges_what_a_manifest_measured(
    here: Run, planned: tuple[Path, dict[str, Any]], right: float,
    code: int, decision: str,
) -> None:  # fmt: skip
    path, plan = planned
    assert here("train", "gate", str(path)).code == 2
    good = {name: 1.0 if name.endswith(("right", "kept")) else 0.0 for name in GATES}
    measured = {"measures": {**good, "lessons_right": right}, "intervals": {}, "seconds": 60.0}
    measured["energy"] = {"joules": 900.0, "estimated": 900.0, "sources": []}
    path.write_text(yaml.safe_dump({**plan["manifest"], **measured}))
    done = here("train", "gate", str(path))
    assert done.code == code
    assert decision in done.out


GATES = (
    "lessons_right", "held_out_right", "lessons_kept", "known_kept", "forms_kept", "refusal_rise", "repetition_rise",
    "empty_rise", "unrelated_kl", "perplexity_rise_en", "perplexity_rise_es", "parity_kl", "contamination",
)  # fmt: skip
