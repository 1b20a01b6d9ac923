"""Anchored preference optimisation (APO-zero, arXiv 2408.06266): the chosen answer up and the rejected one down.

For pairs whose chosen answer is better than what the model would say, as a correction is. Unlike DPO, which only
widens the distance, each answer is held to the base by itself: lowering both gains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, log_ratios


class ApoZero:
    """``(1 - sigmoid(beta (log p_c - log r_c))) + sigmoid(beta (log p_r - log r_r))`` (equation 7 of the paper).

    An example has two items, chosen then rejected, and as reference the base's token log-probabilities of each.
    """

    name = "apo_zero"

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def size(self, example: Example) -> float:
        """One pair."""
        return 1.0

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The pair's loss, between 0 and 2."""
        chosen, rejected = log_ratios(example, log_probs)
        return torch.sigmoid(-self.beta * chosen) + torch.sigmoid(self.beta * rejected)
