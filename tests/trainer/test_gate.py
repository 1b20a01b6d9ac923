"""The gate: a number for everything, and no number means no."""

from __future__ import annotations

import math
from typing import Any

import pytest

from configs.settings import Settings
from trainer.gate import judge

# Measured on the starter model: the shipped recipe, and preference with likelihood at 3e-4 for 20 epochs.
GOOD: dict[str, Any] = {
    "lessons_right": 1.0,
    "held_out_right": 0.94,
    "lessons_kept": 1.0,
    "unrelated_kl": 0.046,
    "perplexity_rise_en": 0.004,
    "perplexity_rise_es": 0.07,
    "parity_kl": 0.003,
}
BROKEN = {
    **GOOD,
    "held_out_right": 0.58,
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
    worse = 0.0 if name in ("lessons_right", "held_out_right", "lessons_kept") else 5.0
    assert judge({**GOOD, name: worse}, settings.training.gate).reasons == (name,)
