"""What an objective is: the sequences it needs scored, and a loss from their log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from trainer.packing import Item


@dataclass(frozen=True)
class Example:
    """One unit of training data.

    ``items``: what has to be scored. ``reference``: numbers of the frozen base that the objective compares with
    (its own file says which), one list an item, in the order of the item's pairs.
    """

    items: tuple[Item, ...]
    reference: tuple[tuple[float, ...], ...] = ()
    name: str = ""


class Objective(Protocol):
    """One loss. ``loss`` sums over examples; the loop divides by the sum of ``size`` over the whole step."""

    name: str

    def size(self, example: Example) -> float:
        """How many units ``example`` counts for: tokens, or pairs."""

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The summed loss of ``example`` given each item's log-probabilities, float32 [pairs] each. A scalar."""


@dataclass(frozen=True)
class Part:
    """One objective's share of a step and the weight of its mean loss in the total."""

    objective: Objective
    examples: tuple[Example, ...]
    weight: float
