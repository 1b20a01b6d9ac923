"""Likelihood of the corrected answer: cross-entropy, averaged over its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, Objective


class Likelihood(Objective):
    """``-log p(answer token)``. An example has one item, the correction (others are not looked at)."""

    name = "likelihood"

    def size(self, example: Example) -> float:
        """Answer tokens."""
        return float(len(example.items[0].answer))

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """Negative log-likelihood, summed over the answer's tokens."""
        return -log_probs[0].sum()
