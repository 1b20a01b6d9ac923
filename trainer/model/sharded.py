"""Matrices of which each process of a training keeps a share of the rows, and has all only while it uses them.

FSDP2 (``torch.distributed.fsdp.fully_shard``, arXiv 2304.11277) gathers them before a function that needs them, and
again before its gradient. Of those that are trained, it then gives each process the sum of all gradients for its share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from trainer.model import freed
from trainer.model.frozen import Dense
from trainer.model.trained import Trained


class Held(torch.nn.Module):
    """What is gathered and let go together. ``own``: this process's rows of each, where they are trained."""

    def __init__(self, matrices: Sequence[torch.Tensor], trained: bool) -> None:
        super().__init__()
        self.matrices = torch.nn.ParameterList(torch.nn.Parameter(each, requires_grad=trained) for each in matrices)
        self.own: list[torch.Tensor] = []

    def forward(self, function: Callable[..., Any], *given: Any) -> Any:
        """``function`` of what is given, which may use the matrices; also its gradient may."""
        return function(*given)

    def own_gradients(self) -> None:
        """Have what all processes found since the last time as the gradient of ``own``."""
        for matrix, own in zip(self.matrices, self.own, strict=True):
            found: Any = matrix.grad
            own.grad = None if found is None else found.to_local()
            matrix.grad = None


class Sharded:
    """One matrix of those that ``held`` holds; there inside of ``held``'s forward and its gradient alone."""

    def __init__(self, held: Held, place: int) -> None:
        self._held = held
        self._place = place

    def times(self, x: torch.Tensor) -> torch.Tensor:
        return self._whole.times(x)

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        return self._whole.back(grad)

    def learn(self, grad: torch.Tensor, x: torch.Tensor, gain: torch.Tensor | None = None) -> torch.Tensor | None:
        return self._whole.learn(grad, x, gain)

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        return self._whole.rows(index)

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        return self._whole.slabs()

    @property
    def parameter(self) -> torch.Tensor:
        """What is trained of it here."""
        return self._held.own[self._place]

    @property
    def _whole(self) -> Dense | Trained:
        matrix = self._held.matrices[self._place]
        return Trained(matrix) if self._held.own else Dense(matrix)


def share_out(
    matrices: Sequence[torch.Tensor], *, trained: bool = False, device: str = "cpu"
) -> tuple[Held, list[Sharded]]:
    """Keep this process's share of these matrices: what has to be called to use them, and each of them.

    Every process has to call it, and then what it returns, as often and in the same order as all others.
    """
    freed.give_back()
    held = Held(matrices, trained)
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    gathering = fully_shard(held, mesh=mesh, reshard_after_forward=True)
    if trained:
        # The sum, where it would give the mean.
        gathering.set_gradient_divide_factor(1.0)
        gathering.set_force_sum_reduction_for_comms(True)
        shares: list[Any] = list(held.matrices)
        held.own = [share.to_local().detach().requires_grad_() for share in shares]
    return held, [Sharded(held, place) for place in range(len(matrices))]
