"""Kahneman-Tversky optimisation (KTO, arXiv 2402.01306): answers that were rated one by one, without a better one.

An answer gains by being likelier (or, rated bad, less likely) than under the base by more than answers are in
general. How much they are in general is estimated on mismatched pairs: each prompt with the answer to another.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, Objective, log_ratios


class Kto(Objective):
    """``1 - sigmoid(beta (r - z))`` of a good answer and ``1 - sigmoid(beta (z - r))`` of a bad one (equation 8).

    ``r = log p - log base`` and ``z = max(0, mean of r over the mismatched pairs)``, through which no gradient flows.
    An example is a whole group: as many items as ``desirable`` has ratings, then the mismatched ones, and as
    reference the base's token log-probabilities of each. Where there are no mismatched ones, z is 0, which makes it
    APO-zero of single answers (loss type ``apo_zero_unpaired`` of TRL's KTOTrainer). Good and bad answers weigh alike.
    """

    name = "kto"

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def size(self, example: Example) -> float:
        """Rated answers."""
        return float(len(example.desirable))

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The group's loss, summed over its rated answers, each between 0 and 1."""
        ratios = torch.stack(log_ratios(example, log_probs))
        rated, mismatched = ratios.split([len(example.desirable), len(ratios) - len(example.desirable)])
        usual = mismatched.detach().mean().clamp_min(0.0) if len(mismatched) else 0.0
        signs = torch.tensor([1.0 if good else -1.0 for good in example.desirable], device=ratios.device)
        return torch.sigmoid(-self.beta * signs * (rated - usual)).sum()
