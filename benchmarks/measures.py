"""Numbers from measurements: alternating two sides, medians, percentiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")


def alternate(
    ours: Callable[[int], Ours], theirs: Callable[[int], Theirs], rounds: int
) -> tuple[list[Ours], list[Theirs]]:
    """Measure both sides ``rounds`` times, each given the round's number.

    They take turns, and the order turns around every round (A B, B A, A B, …), so that a machine that warms
    up, or gets busy, slows both alike.
    """
    if rounds < 1:
        raise ValueError("a comparison takes at least one round")
    first: list[Ours] = []
    second: list[Theirs] = []
    for number in range(rounds):
        if number % 2 == 0:
            first.append(ours(number))
            second.append(theirs(number))
        else:
            second.append(theirs(number))
            first.append(ours(number))
    return first, second


def side_by_side(
    ours: Callable[[int], Ours], theirs: Callable[[int], Theirs] | None, rounds: int
) -> tuple[list[Ours], list[Theirs]]:
    """``alternate`` after a round (number -1) that does not count: files are in the page cache for both alike.

    Without the other side, ours alone.
    """
    ours(-1)
    if theirs is None:
        return [ours(number) for number in range(rounds)], []
    theirs(-1)
    return alternate(ours, theirs, rounds)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` (0 to 1) of ``values`` do not exceed (nearest rank)."""
    if not values:
        raise ValueError("no values were measured")
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")
    ordered = sorted(values)
    # Rounded first: 0.95 * 20 is 19.000000000000004 in binary, and its ceiling would be a rank too far.
    rank = -(-round(share * len(ordered), 9) // 1)
    return ordered[max(int(rank), 1) - 1]
