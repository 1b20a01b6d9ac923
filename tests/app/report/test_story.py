"""A run's story is what its files say, however far the run came."""

from __future__ import annotations

from dataclasses import replace

from app.report.cost import Drawn, Reckoned
from app.report.reading import read_story
from app.report.story import Measure, Series
from memory.runlog import RunEvent, append
from memory.runs import Run
from tests.app.report.conftest import STEPS, Runs


def test_a_judged_run_tells_its_curves_measures_answers_and_costs(runs: Runs) -> None:
    run = runs.judged()
    story = read_story(runs.session.home.runs / run.id, run)
    assert [series.name for series in story.curves] == ["loss", "likelihood", "replay"]
    assert story.curves[1] == Series(
        "likelihood", tuple(range(1, STEPS + 1)), tuple(2.0 / n for n in range(1, STEPS + 1))
    )
    assert story.rate is not None
    assert set(story.rate.values) == {1e-4}
    assert (story.who, story.recipe, story.steps, story.of_steps) == ("Ana", "family", STEPS, STEPS)
    assert [(stage.name, stage.seconds) for stage in story.stages] == [("prepare", 61.4), ("train", 200.0)]
    assert (story.peak_bytes, story.tokens, story.tokens_per_second) == (2_500_000_000, 12345, 80.4)
    assert story.measures == (Measure("lessons_right", 0.5, 0.25),)
    assert [(each["question"], each["reason"]) for each in story.dropped] == [("A saga?", "too_long")]
    assert (story.right(held_out=False), story.right(held_out=True)) == ((1, 1), (0, 1))


def test_a_run_that_was_paused_tells_its_work_and_its_pauses_apart(runs: Runs) -> None:
    run = runs.begun()
    for at, kind in ((100.0, "paused"), (700.0, "resumed"), (800.0, "paused"), (850.0, "resumed")):
        append(runs.session.home.runs / run.id, RunEvent(at, kind))
    story = read_story(runs.session.home.runs / run.id, replace(run, ended_at=run.started_at + 1000))
    assert (story.seconds, story.paused) == (350.0, 650.0)


def test_what_was_drawn_is_told_with_what_of_it_was_reckoned(runs: Runs) -> None:
    run = runs.judged()
    story = read_story(runs.session.home.runs / run.id, run)
    assert story.drawn == Drawn(4716.0, 900.0)
    assert [(stage.paused, stage.drawn) for stage in story.stages] == [(0.0, None), (1200.0, Drawn(3600.0, 0.0))]
    assert story.reckoned == Reckoned(300.0, 4500.0, measured=True, drawn=False)


def test_a_run_that_was_killed_tells_what_it_had_written(runs: Runs) -> None:
    run = runs.begun()
    runs.tell(run, "stage_started", "train")
    runs.step(run, 1, 2.0)
    with (runs.session.home.runs / run.id / "events.jsonl").open("a") as file:
        file.write('{"time": 3.0, "kind": "st')
    story = read_story(runs.session.home.runs / run.id, run)
    assert story.curves[0].values == (2.1,)
    assert [(stage.name, stage.seconds) for stage in story.stages] == [("train", None)]
    assert (story.answers, story.verdict, story.peak_bytes) == ((), {}, None)


def test_of_the_trainings_that_were_compared_the_last_best_one_was_chosen(runs: Runs) -> None:
    run = runs.searched()
    story = read_story(runs.session.home.runs / run.id, run)
    assert [(each.learning_rate, each.right, each.best) for each in story.trials] == [
        (1e-4, 0.5, False),
        (2e-4, 1.0, True),
        (4e-4, None, False),
    ]
    assert story.trials[0].seconds == 90.0


def test_a_run_without_a_folder_tells_nothing(runs: Runs) -> None:
    run = runs.session.household.runs.create("lessons")
    story = read_story(runs.session.home.runs / run.id, run)
    assert (story.curves, story.stages, story.steps) == ((), (), 0)


def curve(runs: Runs, run: Run) -> Series:
    return read_story(runs.session.home.runs / run.id, run).curves[1]


def test_a_step_taken_again_after_an_interruption_counts_once(runs: Runs) -> None:
    run = runs.begun()
    for number, loss in ((1, 3.0), (2, 2.0), (3, 9.0), (3, 1.5), (4, 1.0)):
        runs.step(run, number, loss)
    assert curve(runs, run) == Series("likelihood", (1, 2, 3, 4), (3.0, 2.0, 1.5, 1.0))


def test_of_several_attempts_the_last_one_counts(runs: Runs) -> None:
    run = runs.begun()
    for number, loss in ((1, 3.0), (2, 2.0), (3, 1.9), (1, 2.5), (2, 1.0)):
        runs.step(run, number, loss)
    assert curve(runs, run) == Series("likelihood", (1, 2), (2.5, 1.0))


def test_a_loss_that_is_no_number_is_left_out(runs: Runs) -> None:
    run = runs.begun()
    for number, loss in ((1, 3.0), (2, float("nan")), (3, 1.0)):
        runs.step(run, number, loss)
    assert curve(runs, run) == Series("likelihood", (1, 3), (3.0, 1.0))
