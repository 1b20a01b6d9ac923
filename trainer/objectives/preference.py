"""Direct preference optimisation (arXiv 2305.18290): the chosen answer over the rejected one, against the base.

Used beside Likelihood, never alone: corrections are near-copies of what they correct, and there DPO by itself
lowers the chosen answer's own probability (likelihood displacement, arXiv 2410.08847).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer.objectives.interface import Example, log_ratios
from trainer.objectives.pairs import PairObjective


class Preference(PairObjective):
    """``-log sigmoid(beta ((log p_c - log r_c) - (log p_r - log r_r)))``; loss type ``sigmoid`` of TRL's DPOTrainer."""

    name = "preference"

    def loss(self, example: Example, log_probs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The pair's loss."""
        chosen, rejected = log_ratios(example, log_probs)
        return -torch.nn.functional.logsigmoid(self.beta * (chosen - rejected))
