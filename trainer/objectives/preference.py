"""Direct preference optimisation (arXiv 2305.18290): the chosen answer over the rejected one, against the base.

Used beside Likelihood, never alone: corrections are near-copies of what they correct, and there DPO by itself
lowers the chosen answer's own probability (likelihood displacement, arXiv 2410.08847).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, log_ratios


class Preference:
    """``-log sigmoid(beta ((log p_c - log r_c) - (log p_r - log r_r)))``; loss type ``sigmoid`` of TRL's DPOTrainer.

    An example has two items, chosen then rejected, and as reference the base's token log-probabilities of each.
    """

    name = "preference"

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def size(self, example: Example) -> float:
        """One pair."""
        return 1.0

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The pair's loss."""
        chosen, rejected = log_ratios(example, log_probs)
        return -torch.nn.functional.logsigmoid(self.beta * (chosen - rejected))
