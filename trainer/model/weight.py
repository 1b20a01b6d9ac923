"""What the decoder multiplies by: one of its matrices, frozen or trained, wherever and however it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import torch


class Weight(Protocol):
    """A matrix [out, in]."""

    def times(self, x: torch.Tensor) -> torch.Tensor:
        """``x W^T``: [t, in] -> [t, out], computed in x's dtype."""

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        """``grad W``: [t, out] -> [t, in], computed in grad's dtype."""

    def learn(self, grad: torch.Tensor, x: torch.Tensor, gain: torch.Tensor | None = None) -> torch.Tensor | None:
        """Take in the gradient of ``times`` of x, [t, out] and [t, in], where the matrix is trained.

        Of ``times`` of ``x * gain`` where there is a gain [in]; then the gradient for that is returned, float32 [in].
        """

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        """The rows ``index`` [n] as float32 [n, in]; their gradient is taken in where the matrix is trained."""

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        """All rows in order, some at a time: which, and these as float32 [n, in], until the next are asked for."""
