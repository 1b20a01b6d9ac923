"""Anchored preference optimisation (APO-zero, arXiv 2408.06266): the chosen answer up and the rejected one down.

For pairs whose chosen answer is better than what the model would say, as a correction is. Unlike DPO, which only
widens the distance, each answer is held to the base by itself: lowering both gains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, log_ratios
from trainer.objectives.pairs import PairObjective


class ApoZero(PairObjective):
    """``(1 - sigmoid(beta (log p_c - log r_c))) + sigmoid(beta (log p_r - log r_r))`` (equation 7 of the paper)."""

    name = "apo_zero"

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The pair's loss, between 0 and 2."""
        chosen, rejected = log_ratios(example, log_probs)
        return torch.sigmoid(-self.beta * chosen) + torch.sigmoid(self.beta * rejected)
