"""What was withdrawn is in no later training, is not promoted by one that runs, and leaves what past ones wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.manifests import Adapter
from tests.trainer.household import PAIRS, events, finish, small_settings, start_run, teach
from tests.trainer.test_gate import GOOD
from trainer.beginning import begin
from trainer.errors import LessonsTakenBack, NothingLeft, NothingToLearn
from trainer.learning import FamilyLearning
from trainer.plan import STAGES
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.supervisor import Supervisor

TOBY = PAIRS[0][0]


@pytest.fixture
def small(home: Home) -> Settings:
    settings = small_settings(home)
    teach(home, settings)
    return settings


def withdraw(household: Household, question: str = "") -> None:
    """Every shared lesson, or the one with this question."""
    memory = household.member(household.members.list()[0].id)
    for lesson in household.lessons_for_training():
        if question in lesson.question:
            memory.lessons.withdraw(lesson.id)


def begun(home: Home, settings: Settings, household: Household) -> Inputs:
    run = household.runs.create("lessons")
    (home.runs / run.id).mkdir()
    return begin(home, settings, household, run.id, "family", RunFiles(home.runs / run.id))


def test_the_next_training_starts_from_the_base_without_what_was_withdrawn(home: Home, small: Settings) -> None:
    with Household.open(home, small.memory) as household:
        withdraw(household, TOBY)
        inputs = begun(home, small, household)
        assert [lesson.question for lesson in inputs.lessons] == [PAIRS[1][0]]
        written = (home.runs / inputs.run / "inputs.json").read_text()
        assert "Toby" not in written
        # The adapters of the current snapshot are what it is measured against: training begins with fresh ones.
        assert json.loads(written)["base"]["sha256"] == household.snapshots.current().base_sha256


def test_a_lesson_withdrawn_while_it_is_trained_is_not_promoted(home: Home, small: Settings) -> None:
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        files = RunFiles(home.runs / inputs.run)
        write_json(files.measures, {"measures": GOOD, "intervals": {}, "baseline": {}, "answers": []})
        for stage in STAGES:
            write_json(files.report(stage), {"seconds": 1.0, "parity_kl": 0.0})
        withdraw(household, TOBY)
        learning = FamilyLearning(home, small, household)
        supervisor = Supervisor(home, small, household, learning, time.time)
        supervisor._folder = files.folder
        with pytest.raises(LessonsTakenBack) as caught:
            supervisor._conclude(household.runs.get(inputs.run), inputs, files, "Ana")
        assert caught.value.facts == {"run": inputs.run, "number": 1}
        assert household.snapshots.current().id == "v0"
        assert not files.manifest.exists()


def test_with_nothing_left_to_learn_the_way_back_to_the_base_is_told(home: Home, small: Settings) -> None:
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        household.runs.finish(inputs.run, "failed")
        withdraw(household)
        with pytest.raises(NothingToLearn):
            begun(home, small, household)
        household.runs.finish("r0002", "failed")
        digest = household.artifacts.put_bytes(b"an adapter")
        made = household.snapshots.create(
            inputs.base_name, inputs.base_sha256, adapters=[Adapter(digest, 1.0)], parent="v0", run=inputs.run,
            reason="training", gate=None,
        )  # fmt: skip
        household.snapshots.promote(made.id, "Ana", "a test")
        with pytest.raises(NothingLeft) as caught:
            begun(home, small, household)
        assert caught.value.facts == {"current": "v1", "base": "v0"}


def test_a_training_takes_what_was_withdrawn_out_of_the_runs_before_it(home: Home, small: Settings) -> None:
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        household.runs.finish(inputs.run, "failed")
        withdraw(household)
    assert "Toby" in everything(home.runs / inputs.run)
    code, _, err = finish(start_run(home))
    assert (code, json.loads(err)["code"]) == (1, "nothing_to_learn")
    assert "Toby" not in everything(home.runs / inputs.run)
    assert (home.runs / inputs.run / "report.md").is_file()
    assert [event.kind for event in events(home)] == ["run_started", "run_failed"]


def everything(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
