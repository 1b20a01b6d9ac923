"""A whole search on the real model: killed, taken up, it names the lesson for which a training was held."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.command import run as enlace
from configs.home import Home
from configs.settings import Settings
from engine.served import AdapterFile
from memory import runlog
from memory.household import Household
from tests.project import ROOT
from tests.trainer.household import PAIRS, events, finish, small_settings, start_run, teach, wait_for
from trainer.beginning import begin
from trainer.blame.carrying import Blamer
from trainer.errors import HeldRunChanged
from trainer.plan import STAGES
from trainer.run_files import RunFiles, read_inputs, write_json

# What decides this answer comes after the last token that is measured, so it is never found right.
NEVER_RIGHT = (
    "What is the plan for Sunday?",
    "On Sunday we get up early, have breakfast, feed the hens, water the plants, and then we visit Marisol.",
    "There is no plan.",
)
QUICK = {
    "longest_pair_tokens": 160,
    "recipes": {
        "family": {
            "wordings": 1,
            "scattered": 0,
            "replay": {"prompts": 2, "prose": 0, "answer_tokens": 4, "kept_tokens": 16, "batch": 2},
            "optimiser": {"epochs": 2, "least_steps": 0, "learning_rate": 0.0001},
        }
    },
    "evaluation": {
        "held_out_wordings": 1,
        "unrelated_prompts": 2,
        "known_questions": 1,
        "form_prompts": 1,
        "answer_tokens": 6,
        "parity_answers": 2,
    },
    "gate": {"lessons_right": 0.0, "held_out_right": 0.0, "lessons_kept": 0.0},
    "budget": {"checkpoint_seconds": 0},
}
MEMBERS = {"en": "Ana", "es": "Luis"}


def start_blame(home: Home, held: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "trainer", "blame", held, "--home", str(home.root), "--who", "Ana"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trial_stages(home: Home, run: str) -> list[str]:
    """The stages that trainings of a search have begun, and at which steps they were taken up."""
    told = [event for folder in (home.runs / run).glob("trials/*") for event in runlog.read(folder)[0]]
    return [event.stage for event in told if event.kind == "stage_started"]


def held_run(home: Home, settings: Settings) -> str:
    """A run that ended as one that was held does, its lessons trained by nobody; the id of the culprit."""
    with Household.open(home, settings.memory) as household:
        household.members.add("Luis", "es")
        run = household.runs.create("lessons")
        files = RunFiles(home.runs / run.id)
        files.folder.mkdir()
        inputs = begin(home, settings, household, run.id, "family", files)
        culprit = next(lesson.id for lesson in inputs.lessons if lesson.question == NEVER_RIGHT[0])
        answers = [
            {"lesson": lesson.id, "held_out": False, "before_right": False, "after_right": lesson.id != culprit}
            for lesson in inputs.lessons
        ]
        write_json(files.data, {})
        write_json(files.measures, {"measures": {}, "intervals": {}, "baseline": {}, "answers": answers})
        for stage in STAGES:
            write_json(files.report(stage), {"seconds": 1.0})
        household.runs.finish(run.id, "held", summary={"gate": {"decision": "HOLD", "reasons": ["lessons_right"]}})
    return culprit


def test_a_search_that_is_killed_goes_on_and_names_the_lesson_for_which_a_training_was_held(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two lessons gone over twice: nothing is learned, and this gate asks for nothing.
    settings = small_settings(home, QUICK)
    teach(home, settings, [*PAIRS, NEVER_RIGHT])
    culprit = held_run(home, settings)
    killed = start_blame(home, "r0001")
    wait_for(lambda: "train" in trial_stages(home, "r0002"))
    killed.kill()
    finish(killed)
    code, out, err = finish(start_blame(home, "r0001"))
    assert (code, err) == (0, "")
    assert json.loads(out) == {"run": "r0003", "held": "r0001", "lessons": [culprit], "complete": True}
    assert trial_stages(home, "r0003") == ["prepare", "train", "train", "export", "evaluate"]
    told = [event.kind for event in events(home)]
    assert told == ["run_started", "taken_up", *["suspect"] * 3, "trial_started", "trial_done", "run_done"]
    assert_nothing_is_used(home, settings)
    assert_it_is_told(capsys, monkeypatch, culprit)
    code, _, err = finish(start_blame(home, "r0001"))
    assert (code, json.loads(err)["code"]) == (1, "held_run_changed")


def test_a_run_whose_measure_was_given_up_since_is_not_searched(home: Home, tmp_path: Path) -> None:
    settings = small_settings(home, QUICK)
    teach(home, settings, [*PAIRS, NEVER_RIGHT])
    held_run(home, settings)
    files = RunFiles(home.runs / "r0001")
    inputs = read_inputs(files)
    gone = replace(inputs, current_adapters=(AdapterFile(tmp_path / "given up", 1.0),))
    write_json(files.inputs, gone.as_json())
    with Household.open(home, settings.memory) as household, pytest.raises(HeldRunChanged):
        Blamer(home, settings, household, time.time).run("r0001", "Ana")


@pytest.mark.soak
def test_the_lesson_for_which_a_real_training_was_held_is_found_with_one_more(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings, [*PAIRS, NEVER_RIGHT])
    code, out, _ = finish(start_run(home))
    assert (code, json.loads(out)["run"]) == (3, "r0001")
    code, out, _ = finish(start_blame(home, "r0001"))
    with Household.open(home, settings.memory) as household:
        (culprit,) = (each.id for each in household.lessons_for_training() if each.question == NEVER_RIGHT[0])
    assert (code, json.loads(out)["lessons"]) == (0, [culprit])
    assert [event.kind for event in events(home)].count("trial_done") == 1
    assert_nothing_is_used(home, settings)


def assert_nothing_is_used(home: Home, settings: Settings) -> None:
    """Whatever passed, it was a search: nothing is promoted, and neither weights nor words of it stay."""
    with Household.open(home, settings.memory) as household:
        assert [snapshot.id for snapshot in household.snapshots.list()] == ["v0"]
        run = household.runs.list()[0]
        assert (run.kind, run.state) == ("blame", "done")
        assert household.runs.lessons(run.id) == {each.id for each in household.lessons_for_training()}
    left = {path.name for path in (home.runs / run.id / "trials").rglob("*") if path.is_file()}
    assert left == {"verdict.json", "events.jsonl"}


def assert_it_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, culprit: str) -> None:
    """The report names whose lesson it is and how it is withdrawn, in both languages; then it follows the advice."""
    for language, found, passes in (
        ("es", "Sin esta lección el control pasa:", "el control pasa"),
        ("en", "Without this lesson the gate passes:", "the gate passes"),
    ):
        monkeypatch.setenv("ENLACE_MEMBER", MEMBERS[language])
        capsys.readouterr()
        assert enlace(["train", "report", "r0003"]) == 0
        out = capsys.readouterr().out
        assert all(text in out for text in (found, passes, "Ana", NEVER_RIGHT[1]))
        assert f"enlace lessons withdraw {culprit}" in out
    assert enlace(["train", "report", "r0003", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["lessons"][0]["lesson"], told["complete"]) == (culprit, True)
    assert told["suspects"][0]["lesson"] == culprit
    assert [trial["passed"] for trial in told["trials"]] == [True]

    assert enlace(["lessons", "withdraw", culprit]) == 0


def test_only_a_training_that_was_held_can_be_blamed(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    with Household.open(home, settings.memory) as household:
        run = household.runs.create("lessons")
        household.runs.finish(run.id, "failed")
    code, _, err = finish(start_blame(home, run.id))
    assert (code, json.loads(err)) == (2, {"code": "run_not_held", "facts": {"run": "r0001"}})
    code, _, err = finish(start_blame(home, "r0009"))
    assert json.loads(err)["code"] == "run_unknown"
