"""The gate: a number for everything, and no number means no."""

from __future__ import annotations

import math
from typing import Any

import pytest

from configs.settings import Settings
from trainer.gate import judge, verdict_from_json

# Measured on the starter model: the shipped recipe, and preference with likelihood at 3e-4 for 20 epochs.
GOOD: dict[str, Any] = {
    "lessons_right": 1.0,
    "held_out_right": 0.94,
    "lessons_kept": 1.0,
    "known_kept": 0.95,
    "forms_kept": 0.93,
    "refusal_rise": 0.0,
    "repetition_rise": 0.02,
    "empty_rise": 0.0,
    "unrelated_kl": 0.046,
    "perplexity_rise_en": 0.004,
    "perplexity_rise_es": 0.07,
    "parity_kl": 0.003,
    "contamination": 0.0,
    "seconds": 837.0,
    "watt_hours": 3.5,
}
BROKEN = {
    **GOOD,
    "held_out_right": 0.58,
    "known_kept": 0.36,
    "forms_kept": 0.29,
    "unrelated_kl": 1.34,
    "perplexity_rise_en": 0.15,
    "perplexity_rise_es": 0.21,
}


def test_a_good_candidate_ships(settings: Settings) -> None:
    verdict = judge(GOOD, settings.training.gate)
    assert (verdict.decision, verdict.reasons) == ("SHIP", ())
    assert all(check.ok for check in verdict.checks)


def test_what_learned_and_broke_the_rest_is_held_for_its_kl(settings: Settings) -> None:
    verdict = judge(BROKEN, settings.training.gate)
    assert verdict.decision == "HOLD"
    assert "unrelated_kl" in verdict.reasons


@pytest.mark.parametrize("name", sorted(GOOD))
@pytest.mark.parametrize("value", [None, math.nan, math.inf, "1.0", True])
def test_a_measure_that_is_no_number_holds(settings: Settings, name: str, value: Any) -> None:
    verdict = judge({**GOOD, name: value}, settings.training.gate)
    assert (verdict.decision, verdict.reasons) == ("HOLD", (f"{name}_missing",))


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_measure_that_was_not_taken_holds(settings: Settings, name: str) -> None:
    verdict = judge({key: value for key, value in GOOD.items() if key != name}, settings.training.gate)
    assert verdict.decision == "HOLD"


@pytest.mark.parametrize("name", sorted(GOOD))
def test_each_bound_is_enforced_on_its_own(settings: Settings, name: str) -> None:
    worse = 0.0 if name.endswith(("_right", "_kept")) else 7201.0
    assert judge({**GOOD, name: worse}, settings.training.gate).reasons == (name,)


def test_what_was_reckoned_and_not_measured_says_so(settings: Settings) -> None:
    verdict = judge(GOOD, settings.training.gate, reckoned={"watt_hours"})
    assert [check.name for check in verdict.checks if check.reckoned] == ["watt_hours"]
    assert verdict_from_json(verdict.as_json()) == verdict


def interval(low: float, high: float) -> dict[str, Any]:
    return {"low": low, "high": high, "samples": 22}


@pytest.mark.parametrize(
    ("name", "between", "decided"),
    [
        ("known_kept", interval(0.91, 1.0), True),
        ("known_kept", interval(0.60, 0.74), True),
        ("known_kept", interval(0.70, 1.0), False),
        ("refusal_rise", interval(-0.1, 0.09), True),
        ("refusal_rise", interval(-0.1, 0.2), False),
    ],
)
def test_a_check_is_undecided_where_its_bound_lies_inside_its_interval(
    settings: Settings, name: str, between: dict[str, Any], decided: bool
) -> None:
    verdict = judge(GOOD, settings.training.gate, {name: between})
    found = {check.name: check for check in verdict.checks}
    assert (found[name].decided, found[name].samples) == (decided, 22)
    assert [check.name for check in verdict.checks if not check.decided] == ([] if decided else [name])


def test_the_value_decides_what_is_undecided_unless_the_settings_have_it_hold(settings: Settings) -> None:
    wide = {"known_kept": interval(0.7, 1.0)}
    assert judge(GOOD, settings.training.gate, wide).decision == "SHIP"
    assert judge({**GOOD, "known_kept": 0.72}, settings.training.gate, wide).reasons == ("known_kept",)
    strict = settings.training.gate.model_copy(update={"undecided": "hold"})
    verdict = judge(GOOD, strict, wide)
    assert (verdict.decision, verdict.reasons) == ("HOLD", ("known_kept_undecided",))
    assert judge(GOOD, strict, {"known_kept": interval(0.92, 1.0)}).decision == "SHIP"
    assert judge({**GOOD, "known_kept": 0.72}, strict, wide).reasons == ("known_kept",)
