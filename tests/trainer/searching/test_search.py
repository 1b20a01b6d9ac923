"""A search keeps to its time, outlives kills, and leaves the best training where the only one would be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from configs.errors import Reported
from configs.home import Home
from memory import runlog
from tests.trainer.searching.scripted import Clock, Gives, Scripted
from tests.trainer.stages import inputs_for
from trainer.errors import LossNotFinite, NoRoom, RunStopped, StageDied
from trainer.run_files import Inputs, RunFiles, read_inputs, write_json
from trainer.searching.choice import Choice
from trainer.searching.search import Search

RATE = 3e-4
SETTINGS = {
    "recipes": {"family": {"optimiser": {"learning_rate": RATE, "epochs": 8}, "lora": {"rank": 16}}},
    "gate": {"unrelated_kl": 0.15},
    "search": {"seconds": 1000, "enough": 0.95, "within": 0.8, "rate_factor": 2.0, "epochs_step": 2, "rank_factor": 2},
}


class Run:
    """The folder of a run, in which searches go on one after the other, as after kills."""

    def __init__(self, home: Home, base: Path) -> None:
        self.files = RunFiles(home.runs / "r0001")
        self.files.folder.mkdir()
        self.inputs = inputs_for(home, base, SETTINGS)
        write_json(self.files.inputs, self.inputs.as_json())
        write_json(self.files.data, {"prepared": True})
        self.told: list[tuple[str, Mapping[str, Any]]] = []

    def search(self, gives: Callable[[Choice], Gives], run_seconds: float = math.inf) -> tuple[Inputs, Scripted]:
        """A search to its end: the inputs of what it chose, and what was done for it."""
        clock = Clock()
        processes = Scripted(gives, clock, run_seconds)
        told: list[tuple[str, Mapping[str, Any]]] = []
        self.told = told
        search = Search(self.files, self.inputs, processes, lambda kind, facts: told.append((kind, facts)), clock)
        return search.run(), processes

    @property
    def weights(self) -> float:
        """The learning rate of the training in the run's own place."""
        assert self.files.adapter.read_text() == self.files.weights.read_text()
        return float(self.files.weights.read_text())

    @property
    def left(self) -> set[str]:
        """The folders of trainings beside the run's own."""
        return {path.name for path in (self.files.folder / "search").glob("*/")}


@pytest.fixture
def run(home: Home, starter: Path) -> Run:
    return Run(home, starter)


def rising(choice: Choice) -> Gives:
    """Twice the rate learns enough; more than that breaks the rest."""
    return Gives(right=0.5 if choice.learning_rate < 2 * RATE else 1.0, kl=0.05 * choice.learning_rate / RATE)


def rates(done: Iterable[tuple[str, float]], stage: str = "train") -> list[float]:
    return [rate for each, rate in done if each == stage]


def test_the_best_training_lies_where_the_only_one_would_and_nothing_is_left_of_the_others(run: Run) -> None:
    inputs, processes = run.search(rising)
    assert rates(processes.done) == [RATE, 2 * RATE]
    assert run.weights == 2 * RATE
    assert Choice.of(inputs.recipe) == Choice(2 * RATE, 8, 16)
    assert read_inputs(run.files) == inputs
    assert run.left == set()
    assert not run.files.stage("score").exists()
    # What its stages told is in the run's log, behind what the first told.
    events = [event for event in runlog.read(run.files.folder)[0] if event.stage == "train"]
    assert [(event.facts or {})["rate"] for event in events] == [RATE, 2 * RATE]
    assert [event.fraction for event in events] == [0.5, None]
    assert [kind for kind, _ in run.told] == ["choice_done", "choice_started", "choice_done"]
    assert [facts["best"] for kind, facts in run.told if kind == "choice_done"] == [True, True]


def test_where_the_first_stays_the_best_it_stays_where_it_is(run: Run) -> None:
    inputs, processes = run.search(lambda choice: Gives(kl=0.05 if choice.learning_rate == RATE else 0.2))
    assert len(rates(processes.done)) > 2
    assert (run.weights, inputs, run.left) == (RATE, run.inputs, set())
    assert read_inputs(run.files) == run.inputs


def test_without_time_for_another_it_is_as_if_there_were_no_search(run: Run) -> None:
    inputs, processes = run.search(lambda choice: Gives(seconds=600))
    assert processes.done == [("train", RATE), ("export", RATE)]
    assert (inputs, run.told, (run.files.folder / "search").exists()) == (run.inputs, [], False)


def test_no_training_is_begun_that_would_end_later(run: Run) -> None:
    _, processes = run.search(lambda choice: Gives(seconds=210))
    assert len(rates(processes.done)) == 4
    assert processes.clock.now <= 1000


def test_more_epochs_are_reckoned_to_take_longer(run: Run) -> None:
    _, processes = run.search(lambda choice: Gives(seconds=270 if choice.learning_rate == RATE else 200))
    # The fourth would be one of ten epochs in the place of eight: 338 seconds, and 330 are left.
    assert len(rates(processes.done)) == 3


def test_one_that_takes_longer_than_reckoned_is_given_up_and_the_best_before_it_is_used(run: Run) -> None:
    inputs, processes = run.search(lambda choice: Gives(seconds=100 if choice.learning_rate == RATE else 5000))
    assert rates(processes.done) == [RATE, 2 * RATE]
    assert processes.clock.now == 1000
    assert (run.weights, inputs, run.left) == (RATE, run.inputs, set())


def test_the_runs_own_time_leaves_room_for_what_is_measured_at_the_end(run: Run) -> None:
    _, processes = run.search(lambda choice: Gives(seconds=100), run_seconds=350)
    assert len(rates(processes.done)) == 2
    assert processes.clock.now <= 250


def test_killed_in_the_middle_it_goes_on_without_training_anything_twice(run: Run) -> None:
    def killed(choice: Choice) -> Gives:
        if choice.learning_rate == 2 * RATE:
            raise RunStopped(run="r0001")
        return rising(choice)

    with pytest.raises(RunStopped):
        run.search(killed)
    inputs, processes = run.search(rising)
    assert rates(processes.done) == [2 * RATE]
    assert run.weights == Choice.of(inputs.recipe).learning_rate == 2 * RATE
    # The log of the run that ends it tells of all.
    assert [facts["learning_rate"] for kind, facts in run.told if kind == "choice_done"] == [RATE, 2 * RATE]


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_killed_while_the_best_is_put_in_its_place_it_ends_the_same(
    run: Run, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    replaced = Path.replace
    left = [moves]

    def killed(path: Path, target: Path) -> Path:
        if path.is_dir() or Path(target) == run.files.inputs:
            left[0] -= 1
            if not left[0]:
                raise RunStopped(run="r0001")
        return replaced(path, target)

    def gives(choice: Choice) -> Gives:
        """Only two fit into the time, of which neither is good enough."""
        return Gives(right=min(0.8, choice.learning_rate / RATE / 2), seconds=400)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(RunStopped):
        run.search(gives)
    monkeypatch.undo()
    # It has been decided: that there is time again changes nothing.
    inputs, processes = run.search(gives)
    assert processes.done == []
    assert [facts["learning_rate"] for _, facts in run.told] == [RATE, 2 * RATE]
    assert run.weights == Choice.of(read_inputs(run.files).recipe).learning_rate == 2 * RATE
    assert (read_inputs(run.files), run.left) == (inputs, set())


def test_what_broke_is_followed_by_gentler_numbers(run: Run) -> None:
    def gives(choice: Choice) -> Gives:
        return Gives(breaks=LossNotFinite.code) if choice.learning_rate == RATE else Gives(right=1.0)

    inputs, _ = run.search(gives)
    assert run.weights == Choice.of(inputs.recipe).learning_rate == RATE / 2
    assert [facts["code"] for kind, facts in run.told if kind == "choice_done"] == [LossNotFinite.code, ""]


def test_where_everything_breaks_the_run_fails_as_its_first_training_did(run: Run) -> None:
    with pytest.raises(Reported) as caught:
        run.search(lambda choice: Gives(breaks=LossNotFinite.code))
    assert (caught.value.code, caught.value.facts) == (LossNotFinite.code, {"step": 3})


def test_where_the_first_breaks_and_there_is_no_time_for_another_the_run_fails(run: Run) -> None:
    with pytest.raises(Reported) as caught:
        run.search(lambda choice: Gives(breaks=LossNotFinite.code, seconds=900))
    assert (caught.value.code, run.told) == (LossNotFinite.code, [])


@pytest.mark.parametrize("code", [StageDied.code, LossNotFinite.code])
def test_one_that_ends_badly_costs_the_run_nothing(run: Run, code: str) -> None:
    inputs, _ = run.search(lambda choice: Gives(breaks="" if choice.rank == 16 else code))
    assert (run.weights, inputs) == (RATE, run.inputs)


def test_where_the_first_cannot_be_compared_it_is_as_if_there_were_no_search(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Scripted._stage

    def dies(self: Scripted, stage: str, files: RunFiles, ends: float) -> None:
        if stage == "score":
            raise StageDied(stage=stage, status=-9, log="")
        done(self, stage, files, ends)

    monkeypatch.setattr(Scripted, "_stage", dies)
    inputs, processes = run.search(rising)
    assert rates(processes.done) == [RATE]
    assert (run.weights, inputs, run.told) == (RATE, run.inputs, [])


def test_without_room_for_another_the_first_is_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise NoRoom(path="there", reason="no space left")

    monkeypatch.setattr("trainer.searching.trials.make_folder", full)
    inputs, processes = run.search(rising)
    assert rates(processes.done) == [RATE]
    assert (run.weights, inputs) == (RATE, run.inputs)


@pytest.mark.parametrize(("rate", "code"), [(RATE, StageDied.code), (2 * RATE, "model_broken")])
def test_what_is_no_matter_of_the_numbers_ends_the_run(run: Run, rate: float, code: str) -> None:
    with pytest.raises(Reported) as caught:
        run.search(lambda choice: Gives(breaks=code if choice.learning_rate == rate else ""))
    assert caught.value.code == code
