"""A teacher's distribution over the next token as its likeliest tokens and one rest, and the KL from it.

At each position the teacher's most likely tokens are kept one by one and all the others as one rest, so that a
cache of the teacher costs kilobytes; merging outcomes can only lower a KL, and the rest is a small part of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, Objective

SMALLEST_REST = 1e-6  # below it, 1 - sum(p) is rounding


class KeptDivergence(Objective):
    """``sum_k p_k (log p_k - log q_k)`` over the kept tokens and the rest; p is the teacher, q the trained model.

    An example has one item whose targets are the kept tokens of each answer position, and as reference their
    log-probabilities under the teacher.
    """

    def size(self, example: Example) -> float:
        """Answer positions."""
        return float(len(example.items[0].answer))

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """KL, summed over the answer's positions."""
        positions = len(example.items[0].answer)
        trained = log_probs[0].view(positions, -1)
        teacher = torch.tensor(example.reference[0], device=trained.device).view(positions, -1)
        kept = teacher.exp()
        rest = (1.0 - kept.sum(-1)).clamp_min(SMALLEST_REST)
        trained_rest = (1.0 - trained.exp().sum(-1)).clamp_min(SMALLEST_REST)
        inside = (kept * (teacher - trained)).sum()
        return inside + (rest * (rest.log() - trained_rest.log())).sum()
