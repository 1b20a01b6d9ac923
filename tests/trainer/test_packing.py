"""Items are gathered into packs by the tokens that a pack really computes."""

from __future__ import annotations

import itertools
import random

from trainer.packing import Item, build_pack, in_packs

BEGINNING = tuple(range(50))


def items(number: int) -> list[list[Item]]:
    """Lists of one to three items that begin alike."""
    draw = random.Random(4)
    return [
        [Item((*BEGINNING, number, place), tuple(range(draw.randint(2, 9)))) for place in range(draw.randint(1, 3))]
        for number in range(number)
    ]


def test_a_pack_holds_at_most_the_budget_and_as_much_of_it_as_fits() -> None:
    wanted, budget = items(30), 120
    groups = list(in_packs(wanted, budget))
    assert [index for group in groups for index in group] == list(range(30))

    def tokens(group: list[int]) -> int:
        return len(build_pack([item for index in group for item in wanted[index]]).tokens)

    assert all(tokens(group) <= budget for group in groups)
    assert all(tokens([*group, after[0]]) > budget for group, after in itertools.pairwise(groups))


def test_what_begins_alike_is_counted_once() -> None:
    alike = [[Item(BEGINNING, (number, 0))] for number in range(20)]
    assert list(in_packs(alike, 70)) == [list(range(20))]
    assert len(list(in_packs([[Item((number, *BEGINNING), (1, 2))] for number in range(20)], 70))) == 20


def test_what_is_longer_than_the_budget_stands_alone() -> None:
    assert list(in_packs([[Item((1,), (2, 3))], [Item(BEGINNING, (1,))], [Item((1,), (2,))]], 10)) == [[0], [1], [2]]
    assert list(in_packs([], 10)) == []
