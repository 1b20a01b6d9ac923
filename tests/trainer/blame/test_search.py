"""The fewest lessons without which a gate passes are found with few trainings."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from trainer.blame.search import Finding, OutOfTime, fewest

RANKED = [f"lesson-{number}" for number in range(24)]


class Gate:
    """Passes where all culprits are left out; counts the trainings, of which there are ``most``."""

    def __init__(self, *culprits: int, most: int = 1000) -> None:
        self._culprits = {RANKED[number] for number in culprits}
        self._most = most
        self.trained: list[frozenset[str]] = []

    def __call__(self, without: frozenset[str]) -> bool:
        if without not in self.trained:
            if len(self.trained) == self._most:
                raise OutOfTime
            self.trained.append(without)
        return self._culprits <= without


def found(gate: Callable[[frozenset[str]], bool], first: int = 1) -> Finding:
    return fewest(RANKED, first, gate)


def test_the_likeliest_culprit_takes_one_training() -> None:
    gate = Gate(0)
    assert found(gate) == Finding((RANKED[0],), complete=True)
    assert len(gate.trained) == 1


@pytest.mark.parametrize("culprit", range(1, 24))
def test_a_culprit_at_any_place_takes_a_logarithm_of_them(culprit: int) -> None:
    gate = Gate(culprit)
    assert found(gate) == Finding((RANKED[culprit],), complete=True)
    assert len(gate.trained) <= 2 * math.log2(len(RANKED)) + 2


@pytest.mark.parametrize("culprits", [(0, 1), (1, 5), (3, 4, 9), (13, 22)])
def test_several_culprits_are_all_found_and_nobody_else(culprits: tuple[int, ...]) -> None:
    finding = found(Gate(*culprits))
    assert finding.complete
    assert set(finding.lessons) == {RANKED[number] for number in culprits}


def test_as_many_as_are_reckoned_to_be_needed_are_tried_first() -> None:
    gate = Gate(0, 1, 2)
    assert set(found(gate, 3).lessons) == set(RANKED[:3])
    assert gate.trained[0] == frozenset(RANKED[:3])


def test_where_it_is_not_for_a_few_lessons_nobody_is_blamed() -> None:
    gate = Gate(0, 23)  # in both halves: more than half would have to go
    assert found(gate) == Finding((), complete=True)
    assert max(len(without) for without in gate.trained) == len(RANKED) / 2


def test_without_time_what_passed_is_told_and_that_fewer_may_do() -> None:
    assert found(Gate(5, most=3)) == Finding((), complete=False)
    assert found(Gate(5, most=4)) == Finding(tuple(RANKED[:8]), complete=False)


def test_the_only_lesson_is_found() -> None:
    assert fewest(RANKED[:1], 1, lambda without: without == {RANKED[0]}) == Finding((RANKED[0],), complete=True)
