"""A held training answers on somebody's word, which stays on record; or not at all, where it is not what was judged."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import yaml

from configs.home import Home
from configs.settings import Settings
from memory import runlog
from memory.household import Household
from memory.runs import LESSONS, Run
from tests.engine.snapshots import write_adapter
from tests.trainer.household import small_settings, teach
from tests.trainer.test_gate import BROKEN, GOOD
from trainer.completing import complete_manifests
from trainer.errors import HeldRunChanged, RunNotHeld
from trainer.learning import FamilyLearning
from trainer.overriding import ship_held
from trainer.plan import STAGES
from trainer.run_files import RunFiles, write_json
from trainer.supervisor import Supervisor

WHY = "We looked at the answers: they're fine."


@pytest.fixture
def settings(home: Home) -> Settings:
    return small_settings(home, {"gate": {}})


@pytest.fixture
def household(home: Home, settings: Settings) -> Iterator[Household]:
    teach(home, settings)
    with Household.open(home, settings.memory) as opened:
        yield opened


def judged(household: Household, settings: Settings, measures: dict[str, float]) -> Run:
    """A run of which everything was measured and nothing trained; what it is after the verdict."""
    learning = FamilyLearning(household.home, settings, household)
    run = household.runs.create(learning.kind)
    files = RunFiles(household.home.runs / run.id)
    files.folder.mkdir(parents=True)
    inputs = learning.begin(run.id, "family", files)
    for stage in STAGES:
        write_json(files.report(stage), {"seconds": 1.0, "peak_bytes": 1, "parity_kl": 0.0})
    for made in (files.data, files.weights, files.adapter):
        made.parent.mkdir(exist_ok=True)
        made.write_bytes(b"made")
    write_adapter(files.adapter)
    write_json(files.measures, {"measures": measures, "intervals": {}, "baseline": {}, "answers": []})
    supervisor = Supervisor(household.home, settings, household, learning, time.time)
    supervisor._folder = files.folder
    supervisor._conclude(run, inputs, files, "enlace")
    return household.runs.get(run.id)


def ship(household: Household, settings: Settings, run: str) -> str:
    return ship_held(household.home, settings, household, run, "Ana", WHY, lambda: 1234.0)


def test_a_held_training_answers_on_somebodys_word_and_every_record_says_whose(
    household: Household, settings: Settings
) -> None:
    held = judged(household, settings, BROKEN)
    assert (held.state, household.snapshots.current().id) == ("held", "v0")
    assert ship(household, settings, held.id) == "v1"
    current = household.snapshots.current()
    assert (current.id, current.run) == ("v1", held.id)
    said = {"who": "Ana", "why": WHY, "at": 1234.0}
    run = household.runs.get(held.id)
    assert (run.state, run.snapshot, run.ended_at) == ("shipped", "v1", held.ended_at)
    manifest = yaml.safe_load((household.home.runs / held.id / "manifest.yaml").read_text())
    for gate in (run.summary["gate"], current.gate, manifest["verdict"]):
        assert gate is not None
        assert (gate["decision"], gate["override"]) == ("HOLD", said)
        assert "unrelated_kl" in gate["reasons"]
    assert manifest["snapshot"] == "v1"
    move = household.snapshots.history()[0]
    assert (move.kind, move.snapshot, move.who) == ("promote", "v1", "Ana")
    last = runlog.read(household.home.runs / held.id)[0][-1]
    assert (last.kind, last.facts) == ("overridden", {**said, "snapshot": "v1"})
    report = (household.home.runs / held.id / "report.md").read_text()
    assert "Ana" in report
    assert household.snapshots.rollback("Ana", "no").id == "v0"


@pytest.mark.parametrize("between", ["before its log", "before its manifest"])
def test_a_word_that_was_cut_off_before_the_files_told_of_it_is_told_once_by_the_next_training(
    household: Household, settings: Settings, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    held = judged(household, settings, BROKEN)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(f"trainer.completing.{'tell' if between == 'before its log' else 'write_whole'}", killed)
    with pytest.raises(Killed):
        ship(household, settings, held.id)
    monkeypatch.undo()
    home, files = household.home, RunFiles(household.home.runs / held.id)
    assert yaml.safe_load(files.manifest.read_text())["snapshot"] is None
    assert household.snapshots.current().run == held.id
    assert complete_manifests(home, household, household.runs.upcoming(LESSONS)) == (held.id,)
    manifest = yaml.safe_load(files.manifest.read_text())
    assert (manifest["snapshot"], manifest["verdict"]["override"]["why"]) == ("v1", WHY)
    assert [event.kind for event in runlog.read(files.folder)[0]].count("overridden") == 1
    assert complete_manifests(home, household, household.runs.upcoming(LESSONS)) == ()


def test_only_a_training_that_was_held_is_overridden_and_once(household: Household, settings: Settings) -> None:
    shipped = judged(household, settings, GOOD)
    with pytest.raises(RunNotHeld):
        ship(household, settings, shipped.id)
    held = judged(household, settings, BROKEN)
    ship(household, settings, held.id)
    with pytest.raises(RunNotHeld):
        ship(household, settings, held.id)


@pytest.mark.parametrize("what", ["weights", "manifest"])
def test_what_is_not_there_any_more_is_not_overridden(household: Household, settings: Settings, what: str) -> None:
    held = judged(household, settings, BROKEN)
    files = RunFiles(household.home.runs / held.id)
    {"weights": files.adapter, "manifest": files.manifest}[what].unlink()
    with pytest.raises(HeldRunChanged):
        ship(household, settings, held.id)
    assert (household.snapshots.current().id, household.runs.get(held.id).state) == ("v0", "held")


def test_weights_with_another_bit_are_not_what_was_judged(household: Household, settings: Settings) -> None:
    held = judged(household, settings, BROKEN)
    write_adapter(RunFiles(household.home.runs / held.id).adapter, seed=1)
    with pytest.raises(HeldRunChanged):
        ship(household, settings, held.id)
    assert household.snapshots.current().id == "v0"


def test_a_training_on_a_lesson_that_was_withdrawn_since_is_not_overridden(
    household: Household, settings: Settings
) -> None:
    held = judged(household, settings, BROKEN)
    lessons = household.member(household.members.get("Ana").id).lessons
    lessons.withdraw(lessons.list()[0].id)
    with pytest.raises(HeldRunChanged):
        ship(household, settings, held.id)


def test_weights_for_another_base_than_the_one_that_answers_are_not_overridden(
    household: Household, settings: Settings
) -> None:
    held = judged(household, settings, BROKEN)
    other = household.snapshots.create("other", "1" * 64, adapters=(), parent=None, run=None, reason="m", gate=None)
    household.snapshots.promote(other.id, "Ana", "another model")
    with pytest.raises(HeldRunChanged):
        ship(household, settings, held.id)
