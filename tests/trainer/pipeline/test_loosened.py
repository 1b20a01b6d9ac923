"""What a file asks less for than the household does is named, whichever side of a bound is the lenient one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from configs.home import Home
from configs.sections.judging import GateSettings
from configs.sections.training import TrainingSettings
from configs.settings import load_settings
from trainer.pipeline.loosened import loosened

LEAST = {"lessons_right", "held_out_right", "lessons_kept", "known_kept", "forms_kept"}
MOST = set(GateSettings.model_fields) - LEAST - {"confidence", "undecided"}


def training(home: Home, *, gate: Mapping[str, object] | None = None, **evaluation: float) -> TrainingSettings:
    changes = {"training": {"gate": dict(gate or {}), "evaluation": evaluation}}
    return load_settings(home, {}, changes).training


@pytest.mark.parametrize("name", sorted(LEAST | MOST))
def test_a_bound_is_named_where_it_lets_more_through_and_not_where_it_lets_less(home: Home, name: str) -> None:
    usual = training(home)
    bound = getattr(usual.gate, name)
    less, more = training(home, gate={name: bound * 0.5}), training(home, gate={name: bound * 1.1})
    wider, narrower = (less, more) if name in LEAST else (more, less)
    (found,) = loosened(wider, usual)
    assert (found.key, found.value, found.household) == (f"gate.{name}", getattr(wider.gate, name), bound)
    assert loosened(narrower, usual) == []
    assert loosened(usual, usual) == []


def test_what_is_undecided_may_not_ship_where_the_household_holds_it(home: Home) -> None:
    usual, strict = training(home), training(home, gate={"undecided": "hold"})
    assert [each.key for each in loosened(usual, strict)] == ["gate.undecided"]
    assert loosened(strict, usual) == []
    unsure = {"confidence": 0.5}
    # Without a hold the intervals are told and decide nothing.
    assert loosened(training(home, gate=unsure), usual) == []
    assert [each.key for each in loosened(training(home, gate={**unsure, "undecided": "hold"}), strict)] == [
        "gate.confidence"
    ]


def test_fewer_answers_measured_are_named(home: Home) -> None:
    usual = training(home)
    few = loosened(training(home, unrelated_prompts=1, form_prompts=1, repetitive=0.9), usual)
    assert [(each.key, each.value) for each in few] == [
        ("evaluation.unrelated_prompts", 1), ("evaluation.form_prompts", 1), ("evaluation.repetitive", 0.9),
    ]  # fmt: skip
    assert loosened(training(home, unrelated_prompts=100, side_by_side=1), usual) == []


@pytest.mark.parametrize("name", ["run_seconds", "run_watt_hours"])
def test_more_time_or_energy_than_a_training_may_take_is_named_and_less_is_not(home: Home, name: str) -> None:
    usual = training(home)
    most = getattr(usual.budget, name)

    def with_budget(value: float) -> TrainingSettings:
        return load_settings(home, {}, {"training": {"budget": {name: value}}}).training

    (found,) = loosened(with_budget(most + 1), usual)
    assert (found.key, found.value, found.household) == (f"budget.{name}", most + 1, most)
    assert loosened(with_budget(most - 1), usual) == []
