from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.measures import alternate, percentile, side_by_side


def test_the_two_sides_take_turns_and_the_order_turns_around_every_round() -> None:
    order: list[str] = []

    def side(name: str) -> Callable[[int], None]:
        return lambda number: order.append(f"{name}{number}")

    alternate(side("a"), side("b"), 4)
    assert order == ["a0", "b0", "b1", "a1", "a2", "b2", "b3", "a3"]


def test_each_side_keeps_its_own_measures_in_the_order_of_the_rounds() -> None:
    assert alternate(lambda number: number, lambda number: -number, 3) == ([0, 1, 2], [0, -1, -2])


def test_a_comparison_of_no_rounds_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        alternate(lambda number: number, lambda number: number, 0)


def test_a_first_round_warms_both_sides_up_and_does_not_count() -> None:
    measured: list[str] = []

    def side(name: str) -> Callable[[int], int]:
        def measure(number: int) -> int:
            measured.append(f"{name}{number}")
            return number

        return measure

    assert side_by_side(side("a"), side("b"), 2) == ([0, 1], [0, 1])
    assert measured[:2] == ["a-1", "b-1"]


def test_without_the_other_side_ours_is_measured_alone() -> None:
    assert side_by_side(lambda number: number, None, 3) == ([0, 1, 2], [])


def test_the_95th_percentile_is_a_measured_value_that_19_of_20_do_not_exceed() -> None:
    values = list(range(20, 0, -1))
    assert percentile(values, 0.95) == 19
    assert percentile(values, 0.5) == 10
    assert percentile(values, 1.0) == 20
    assert percentile(values, 0.0) == 1
    assert percentile([7.0], 0.95) == 7.0


def test_a_percentile_of_nothing_and_one_beyond_all_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile([1.0], 95)
