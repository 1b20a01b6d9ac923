"""What the objectives over pairs have in common: a chosen answer, a rejected one, and how far each is from the base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from trainer.objectives.interface import Example, Objective, log_ratios


class PairObjective(Objective):
    """An example has two items, chosen then rejected, and as reference the base's token log-probabilities of each.

    Both log-ratios to the base are watched: near-copies drag each other along, and a loss over their distance goes
    down also where the chosen answer becomes less likely (arXiv 2410.08847).
    """

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def size(self, example: Example) -> float:
        """One pair."""
        return 1.0

    def watched(self, example: Example, log_probs: Sequence[torch.Tensor]) -> Mapping[str, float]:
        """How much likelier each answer is than under the base, in nats an answer; below 0: less likely."""
        chosen, rejected = log_ratios(example, [each.detach() for each in log_probs])
        return {"chosen_log_ratio": float(chosen), "rejected_log_ratio": float(rejected)}
