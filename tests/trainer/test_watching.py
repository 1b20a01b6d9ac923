"""The chosen answers are watched: each epoch's mean, and a warning where they end below where they began."""

from __future__ import annotations

from memory.runlog import RunEvent
from trainer.watching import watched_chosen


def step(number: int, epoch: int, **facts: float) -> RunEvent:
    return RunEvent(0.0, "step", "train", None, {"step": number, "epoch": epoch, "loss": 0.1, **facts})


def test_chosen_answers_that_became_less_likely_are_warned_of() -> None:
    events = [step(1, 1, chosen_log_ratio=0.5), step(2, 1, chosen_log_ratio=1.5), step(3, 2, chosen_log_ratio=-0.25)]
    assert watched_chosen(events) == {"chosen_log_ratio": [1.0, -0.25], "warnings": ["chosen_less_likely"]}


def test_chosen_answers_that_became_likelier_are_only_reported() -> None:
    events = [step(1, 1, chosen_log_ratio=-0.5), step(2, 2, chosen_log_ratio=0.25)]
    assert watched_chosen(events) == {"chosen_log_ratio": [-0.5, 0.25], "warnings": []}


def test_a_step_that_was_taken_again_counts_once() -> None:
    events = [step(1, 1, chosen_log_ratio=-9.0), step(1, 1, chosen_log_ratio=2.0)]
    assert watched_chosen(events)["chosen_log_ratio"] == [2.0]


def test_a_training_without_preferences_reports_none_of_it() -> None:
    assert watched_chosen([step(1, 1), RunEvent(0.0, "stage_started", "train")]) == {}
