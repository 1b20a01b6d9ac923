"""A whole run on the real model that searches: killed, taken up, it ships by the numbers that it found."""

from __future__ import annotations

import json

import pytest
import yaml

from app.command import run as enlace
from configs.home import Home
from memory import runlog
from memory.household import Household
from memory.runs import LESSONS
from tests.trainer.household import PAIRS, SMALL, events, finish, small_settings, start_run, steps, teach, wait_for
from trainer.beginning import begin
from trainer.run_files import RunFiles, read_inputs
from trainer.searching.choice import Choice

WILD = 1e30  # its first step leaves weights of which nothing can be computed
RECIPE = SMALL["training"]["recipes"]["family"]
SEARCHING = {
    "recipes": {"family": {**RECIPE, "optimiser": {**RECIPE["optimiser"], "epochs": 9, "learning_rate": WILD}}},
    "search": {"seconds": 600, "enough": 0.5, "wordings": 1, "prompts": 2, "rate_factor": 1e33},
    "budget": {"checkpoint_seconds": 0},
}
FOUND = Choice(1e-3, 9, 16)


def trial_steps(home: Home) -> list[int]:
    """The steps that other trainings of the newest run have told."""
    folders = sorted(home.runs.iterdir())[-1:]
    logs = [runlog.read(folder)[0] for run in folders for folder in run.glob("search/*/")]
    return [event.facts["step"] for log in logs for event in log if event.kind == "step" and event.facts]


def test_a_search_that_is_killed_goes_on_and_what_it_finds_answers_and_is_what_the_next_begins_by(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = small_settings(home, SEARCHING)
    teach(home, settings, PAIRS[:1])
    killed = start_run(home)
    wait_for(lambda: len(trial_steps(home)) > 1)
    killed.kill()
    finish(killed)
    code, out, err = finish(start_run(home))
    assert (code, err) == (0, "")
    assert json.loads(out) == {"run": "r0002", "decision": "SHIP", "snapshot": "v1"}

    told = [event for event in events(home) if event.kind.startswith("choice_")]
    assert [event.kind for event in told] == ["choice_done", "choice_started", "choice_done"]
    broke, _, after = (event.facts or {} for event in told)
    assert broke["code"] == "loss_not_finite"
    assert after["right"] >= 0.5
    # The first training was not done again, and the second went on where it was.
    assert steps(home).count(1) == 2
    assert steps(home)[-1] == FOUND.epochs
    assert not trial_steps(home)
    files = RunFiles(home.runs / "r0002")
    assert Choice.of(read_inputs(files).recipe) == FOUND
    manifest = yaml.safe_load(files.manifest.read_text())
    assert manifest["recipe"]["optimiser"]["learning_rate"] == FOUND.learning_rate
    assert manifest["measures"]["lessons_right"] == 1.0

    with Household.open(home, settings.memory) as household:
        (home.runs / household.runs.create(LESSONS).id).mkdir()
        assert begin(home, settings, household, "r0003", "family", RunFiles(home.runs / "r0003")).choice == FOUND
    capsys.readouterr()
    assert enlace(["train", "report", "r0002"]) == 0
    out = capsys.readouterr().out
    assert "1e+30 · 9 · 16" in out
    assert "0.001 · 9 · 16 · chosen" in out
