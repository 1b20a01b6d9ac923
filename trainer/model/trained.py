"""Matrices that are trained whole: their gradients are summed in place, as the products that give them are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import Function

from trainer.model.frozen import Dense


class Trained:
    """One matrix [out, in], float32, and its gradient, ``parameter.grad``, which no part of autograd ever holds.

    ``learn`` multiplies and adds in one product: autograd would make each gradient anew and add it afterwards.
    """

    def __init__(self, parameter: torch.Tensor) -> None:
        self.parameter = parameter
        # Cast to the products' format, and which state of the parameter that was.
        self._cast: tuple[int, torch.Tensor] | None = None

    def times(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.numbers(x.dtype).t()

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        return grad @ self.numbers(grad.dtype)

    def learn(self, grad: torch.Tensor, x: torch.Tensor, gain: torch.Tensor | None = None) -> torch.Tensor | None:
        summed = self.parameter.grad
        if gain is None and summed is not None and grad.dtype == summed.dtype:
            summed.addmm_(grad.t(), x)
            return None
        found = (grad.t() @ x).to(self.parameter.dtype)
        to_gain = None
        if gain is not None:
            # Of the tokens, the gain's gradient is the same sum as the matrix' own: sum_t x_ti sum_o grad_to W_oi.
            to_gain = (found * self.parameter.detach()).sum(0)
            found.mul_(gain.detach())
        self._add(found)
        return to_gain

    def learn_rows(self, index: torch.Tensor, grad: torch.Tensor) -> None:
        """Take in the gradient [n, in] for the rows ``index`` [n], of which one may be there several times."""
        if self.parameter.grad is None:
            self.parameter.grad = torch.zeros_like(self.parameter)
        # One after the other, so that it is the same to the bit each time.
        self.parameter.grad.index_add_(0, index, grad)

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = Picked.apply(self.parameter, index, self)
        return found

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        return Dense(self.parameter.detach()).slabs()

    def numbers(self, dtype: torch.dtype) -> torch.Tensor:
        """All of it in ``dtype``, until the parameter moves."""
        whole = self.parameter.detach()
        if whole.dtype == dtype:
            return whole
        # torch counts in _version what changes a tensor in place.
        if self._cast is None or self._cast[0] != self.parameter._version or self._cast[1].dtype != dtype:
            self._cast = self.parameter._version, whole.to(dtype)
        return self._cast[1]

    def _add(self, found: torch.Tensor) -> None:
        if self.parameter.grad is None:
            self.parameter.grad = found
        else:
            self.parameter.grad.add_(found)


class Picked(Function):
    """Rows of a trained matrix, which takes their gradient in itself."""

    @staticmethod
    def forward(ctx: Any, parameter: torch.Tensor, index: torch.Tensor, weight: Trained) -> Any:
        """parameter [out, in], that of the weight; index [n] -> [n, in]."""
        ctx.save_for_backward(index)
        ctx.weight = weight
        return parameter.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """None for autograd: the parameter has it already."""
        (index,) = ctx.saved_tensors
        ctx.weight.learn_rows(index, grad)
        return None, None, None
