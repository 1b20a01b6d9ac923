"""Which rows of a parameter are here: all of them, or this process's share where the matrices are shared out."""

from __future__ import annotations

import torch
import torch.distributed as dist

from trainer.model.fresh import Parameter


class Shares:
    """Shares of ``size`` processes, of which this is number ``rank``; a share is what FSDP2 gives, ``torch.chunk``."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank = rank
        self._size = size

    def own(self, parameter: Parameter, whole: torch.Tensor) -> torch.Tensor:
        """Of ``whole`` [rows, columns] the rows that are here."""
        if not parameter.shared:
            return whole
        step = -(-len(whole) // self._size)
        return whole[self._rank * step : (self._rank + 1) * step]

    def whole(self, parameter: Parameter, own: torch.Tensor) -> torch.Tensor:
        """All rows of what every process has a share of; every process has to ask at the same time."""
        if not parameter.shared:
            return own
        rows = sum(parameter.parts)
        step = -(-rows // self._size)
        padded = own.new_zeros(step, *own.shape[1:])
        padded[: len(own)] = own
        found = [torch.empty_like(padded) for _ in range(self._size)]
        dist.all_gather(found, padded)
        return torch.cat(found)[:rows]


ALL_HERE = Shares(0, 1)
