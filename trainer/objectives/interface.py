"""What an objective is: the sequences it needs scored, and a loss from their log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from trainer.packing import Item


@dataclass(frozen=True)
class Example:
    """One unit of training data.

    ``items``: what has to be scored. ``reference``: numbers of the frozen base that the objective compares with
    (its own file says which), one list an item, in the order of the item's pairs. ``desirable``: of answers that
    were rated one by one, which were found good. ``in_turn``: one of the wordings of which each epoch trains some.
    """

    items: tuple[Item, ...]
    reference: tuple[tuple[float, ...], ...] = ()
    name: str = ""
    desirable: tuple[bool, ...] = ()
    in_turn: bool = False


class Objective(Protocol):
    """One loss. ``loss`` and ``watched`` sum over examples; the loop divides by the sum of ``size`` over the step."""

    name: str

    def size(self, example: Example) -> float:
        """How many units ``example`` counts for: tokens, pairs, or rated answers."""

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The summed loss of ``example``, a scalar, given each item's log-probabilities [pairs]; all float32."""

    def watched(self, example: Example, log_probs: Sequence[torch.Tensor]) -> Mapping[str, float]:
        """What is to be reported beside the loss, by name; nothing unless the objective says so."""
        return {}


@dataclass(frozen=True)
class Part:
    """One objective's share of a step and the weight of its mean loss in the total."""

    objective: Objective
    examples: tuple[Example, ...]
    weight: float


def log_ratios(example: Example, log_probs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Of each item of ``example``, how much likelier its answer is than under the base, in nats. Scalars.

    ``example.reference`` holds the base's log-probability of every token.
    """
    return [policy.sum() - sum(base) for policy, base in zip(log_probs, example.reference, strict=True)]
