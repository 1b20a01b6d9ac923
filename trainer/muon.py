"""Muon (Keller Jordan et al., 2024): matrices moved by their momentum, made orthogonal.

https://kellerjordan.github.io/posts/muon/
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from trainer.optimiser import Moving

MOMENTUM = "momentum"
# The quintic that Newton-Schulz iterates here: steepest at 0, and around 1 for all singular values within five steps.
QUINTIC = (3.4445, -4.7750, 2.0315)
LEAST_NORM = 1e-7  # of what is divided by its norm


class MuonNumbers(Protocol):
    """What the settings of a Muon hold."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def momentum(self) -> float: ...
    @property
    def nesterov(self) -> bool: ...
    @property
    def iterations(self) -> int: ...
    @property
    def weight_decay(self) -> float: ...


class Muon(Moving):
    """The trained matrices, moved by their gradients.

    ``parts``: of each parameter, the rows of each of the matrices that stand below each other in it, since they are
    orthogonal each for itself. Newton-Schulz is computed in ``dtype``: it needs no more than bfloat16. ``whole`` and
    ``own``, of a parameter's place and a tensor, give all its rows and those of them that are here: where processes
    keep shares.
    """

    def __init__(
        self,
        parameters: Sequence[torch.Tensor],
        parts: Sequence[tuple[int, ...]],
        numbers: MuonNumbers,
        dtype: torch.dtype,
        *,
        whole: Callable[[int, torch.Tensor], torch.Tensor] = lambda place, tensor: tensor,
        own: Callable[[int, torch.Tensor], torch.Tensor] = lambda place, tensor: tensor,
    ) -> None:
        super().__init__(parameters, numbers.learning_rate)
        self._numbers = numbers
        self._parts = list(parts)
        self._dtype = dtype
        self._whole = whole
        self._own = own

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient; the gradients are used up."""
        keeps = self._numbers.momentum
        for place, parameter in enumerate(self._parameters):
            if parameter.grad is None:
                continue
            if parameter not in self.state:
                self.state[parameter] = {MOMENTUM: torch.zeros_like(parameter)}
            momentum = self.state[parameter][MOMENTUM].lerp_(parameter.grad, 1 - keeps)
            ahead = parameter.grad.lerp_(momentum, keeps) if self._numbers.nesterov else momentum
            matrices = self._whole(place, ahead).split(self._parts[place])
            moved = [orthogonal(each, self._numbers.iterations, self._dtype) for each in matrices]
            parameter.mul_(1 - self.rate * self._numbers.weight_decay)
            parameter.add_(self._own(place, torch.cat(moved)), alpha=-self.rate)


def orthogonal(matrix: torch.Tensor, iterations: int, dtype: torch.dtype) -> torch.Tensor:
    """``matrix`` [out, in] with singular values of about 1, times its share of being tall: float32, the same shape."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.t() if tall else matrix).to(dtype)
    x = x / x.norm().clamp_min(LEAST_NORM)
    first, third, fifth = QUINTIC
    for _ in range(iterations):
        square = x @ x.t()
        x = torch.addmm(x, torch.addmm(square, square, square, beta=third, alpha=fifth), x, beta=first)
    found = (x.t() if tall else x).float()
    return found * math.sqrt(max(1.0, matrix.shape[0] / matrix.shape[1]))
