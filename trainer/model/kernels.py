"""The decoder's operations with gradients written out, so that little is kept and no frozen weight gets one.

All tensors are flat over tokens, [tokens, features]: no padding is ever multiplied. The residual stream,
norms, softmax and losses are float32; matrix products run in the dtype of the frozen weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from trainer.model.frozen import Frozen

# One side of an adapter; None: there is no adapter.
Matrix = torch.Tensor | None


class LoraLinear(Function):
    """``y = x W^T + scale (x A^T) B^T``; gradients for x, A and B only (LoRA, arXiv 2106.09685)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: Frozen, a: Matrix, b: Matrix, scale: float) -> Any:
        """x [t, in], weight [out, in], a [r, in], b [out, r] -> [t, out]; x, a and b are of one dtype."""
        out, inner = changed(x, weight, a, b, scale)
        ctx.save_for_backward(x, a, b, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients of the above."""
        x, a, b, inner = ctx.saved_tensors
        grad_inner, grad_a, grad_b = lora_gradients(grad, x, a, b, inner, ctx.scale)
        grad_x = ctx.weight.back(grad).addmm_(grad_inner, a) if ctx.needs_input_grad[0] else None
        return grad_x, None, grad_a, grad_b, None


class NormedLinear(Function):
    """``LoraLinear`` of ``RmsNorm``.

    What is kept for the gradient is normed, without its gain, and in the dtype of the products: of what went in it is
    half.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        gain: torch.Tensor,
        epsilon: float,
        weight: Frozen,
        a: Matrix,
        b: Matrix,
        scale: float,
        dtype: torch.dtype,
    ) -> Any:
        """x float32 [t, in] -> [t, out] in ``dtype``, which is that of a and b."""
        inverse = _inverse_rms(x, epsilon)
        unit = x * inverse
        out, inner = changed((unit * gain).to(dtype), weight, a, b, scale)
        ctx.save_for_backward(unit.to(dtype), gain, inverse, a, b, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for x, A and B."""
        unit, gain, inverse, a, b, inner = ctx.saved_tensors
        normed = (unit * gain).to(a.dtype)
        grad_inner, grad_a, grad_b = lora_gradients(grad, normed, a, b, inner, ctx.scale)
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x = _before_norm(ctx.weight.back(grad).addmm_(grad_inner, a), unit, gain, inverse)
        return grad_x, None, None, None, grad_a, grad_b, None, None


class GatedLinear(Function):
    """``LoraLinear`` of the gated unit ``silu(gate) * up`` (SwiGLU, arXiv 2002.05202) or ``gelu_tanh(gate) * up``.

    Of the feed-forward only ``gate_up`` is kept: the unit is computed again for the gradient.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gate_up: torch.Tensor,
        activation: str,
        weight: Frozen,
        a: Matrix,
        b: Matrix,
        scale: float,
    ) -> Any:
        """gate_up [t, 2 f], weight [out, f] -> [t, out]."""
        gate, up = gate_up.chunk(2, dim=-1)
        out, inner = changed(_activated(gate, activation).mul_(up), weight, a, b, scale)
        ctx.save_for_backward(gate_up, a, b, inner)
        ctx.weight, ctx.scale, ctx.activation = weight, scale, activation
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for gate_up, A and B."""
        gate_up, a, b, inner = ctx.saved_tensors
        gate, up = gate_up.chunk(2, dim=-1)
        open_gate = _activated(gate, ctx.activation)
        grad_inner, grad_a, grad_b = lora_gradients(grad, open_gate * up, a, b, inner, ctx.scale)
        through = ctx.weight.back(grad).addmm_(grad_inner, a)
        out = torch.empty_like(gate_up)
        to_gate, to_up = out.chunk(2, dim=-1)
        torch.mul(open_gate, through, out=to_up)
        through.mul_(up)
        if ctx.activation == "silu":
            to_gate.copy_(torch.ops.aten.silu_backward(through, gate))
        else:
            to_gate.copy_(torch.ops.aten.gelu_backward(through, gate, approximate="tanh"))
        return out, None, None, grad_a, grad_b, None


class RmsNorm(Function):
    """``x / rms(x) * gain`` in float32, given in ``dtype`` (arXiv 1910.07467)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gain: torch.Tensor, epsilon: float, dtype: torch.dtype) -> Any:
        """x [..., n], gain [n] -> [..., n]."""
        wide = x.float()
        inverse = _inverse_rms(wide, epsilon)
        ctx.save_for_backward(x, gain, inverse)
        return (wide * inverse).mul_(gain).to(dtype)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradient for x; the gain is frozen."""
        x, gain, inverse = ctx.saved_tensors
        return _before_norm(grad, x.float() * inverse, gain, inverse).to(x.dtype), None, None, None


def _activated(gate: torch.Tensor, activation: str) -> torch.Tensor:
    if activation == "silu":
        return torch.nn.functional.silu(gate)
    return torch.nn.functional.gelu(gate, approximate="tanh")


def _inverse_rms(x: torch.Tensor, epsilon: float) -> torch.Tensor:
    """[..., n] -> [..., 1]"""
    return torch.rsqrt(x.square().mean(-1, keepdim=True).add_(epsilon))


def _before_norm(grad: torch.Tensor, unit: torch.Tensor, gain: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """The float32 gradient for what was normed: ``unit`` is it without the gain."""
    scaled = grad.float() * gain
    along = (scaled * unit).mean(-1, keepdim=True)
    return scaled.addcmul_(unit, along, value=-1.0).mul_(inverse)


def changed(x: torch.Tensor, weight: Frozen, a: Matrix, b: Matrix, scale: float) -> tuple[torch.Tensor, Matrix]:
    """The product with what the adapter adds, if there is one [t, out], and what is between A and B [t, r]."""
    if a is None or b is None:
        return weight.times(x), None
    inner = x @ a.t()
    return weight.times(x).addmm_(inner, b.t(), alpha=scale), inner


def lora_gradients(
    grad: torch.Tensor, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, inner: torch.Tensor, scale: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of what is between A and B, of A and of B."""
    grad_inner = (grad @ b).mul_(scale)
    return grad_inner, grad_inner.t() @ x, (grad.t() @ inner).mul_(scale)
