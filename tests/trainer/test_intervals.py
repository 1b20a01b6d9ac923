"""Intervals of shares, held to the figures that their papers print."""

from __future__ import annotations

import pytest

from trainer.intervals import newcombe, wilson


@pytest.mark.parametrize(
    ("hits", "samples", "low", "high"),
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_a_share_has_wilsons_interval(hits: int, samples: int, low: float, high: float) -> None:
    found = wilson(hits, samples, 0.95)
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)
    assert found.samples == samples


def test_a_rise_has_newcombes_interval() -> None:
    # Newcombe, Interval estimation for the difference between independent proportions (1998), table II, 9/10 - 3/10.
    found = newcombe(9, 3, 10, 0.95)
    assert [found.low, found.high] == pytest.approx([0.1705, 0.8090], abs=5e-5)


def test_of_nothing_anything_may_be_true() -> None:
    assert (wilson(0, 0, 0.9).low, wilson(0, 0, 0.9).high) == (0.0, 1.0)
    assert (newcombe(0, 0, 0, 0.9).low, newcombe(0, 0, 0, 0.9).high) == (-1.0, 1.0)


def test_more_answers_and_less_confidence_make_it_narrower() -> None:
    width = [found.high - found.low for found in (wilson(9, 10, 0.9), wilson(90, 100, 0.9), wilson(90, 100, 0.5))]
    assert width == sorted(width, reverse=True)
