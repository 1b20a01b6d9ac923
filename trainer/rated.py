"""Rated answers as tokens, and the groups of them that KTO trains."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from trainer.objectives.interface import Example
from trainer.packing import Item, in_budget


@dataclass(frozen=True)
class Rated:
    """A rating as tokens."""

    item: Item
    good: bool


def rating_groups(rated: Sequence[Rated], budget: int, seed: int) -> list[Example]:
    """Examples of objectives/kto.py, without references: as many answers as fit in ``budget`` tokens, at least two.

    Which answers share a group is drawn by ``seed`` and stays, so that their references are computed once.
    """
    order = list(rated)
    random.Random(seed).shuffle(order)  # noqa: S311 - not for secrets
    sizes = [len(each.item.prompt) + 2 * len(each.item.answer) for each in order]
    groups: list[list[Rated]] = []
    for indices in in_budget(sizes, budget):
        group = [order[index] for index in indices]
        if groups and len(groups[-1]) == 1:
            groups[-1] += group
        else:
            groups.append(group)
    if len(groups) > 1 and len(groups[-1]) == 1:
        alone = groups.pop()
        groups[-1] += alone
    return [_example(group) for group in groups]


def _example(group: Sequence[Rated]) -> Example:
    """The rated answers, and each prompt with the answer before it in the group that was given to another prompt."""
    mismatched = []
    for place, each in enumerate(group):
        before = [*group[place + 1 :], *group[:place]]
        others = [other.item for other in before if other.item.prompt != each.item.prompt]
        if others:
            mismatched.append(Item(each.item.prompt, others[-1].answer))
    items = [each.item for each in group]
    return Example((*items, *mismatched), name="ratings", desirable=tuple(each.good for each in group))
