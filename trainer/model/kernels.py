"""The decoder's operations with gradients written out, so that little is kept and no frozen weight gets one.

A weight that is trained takes its own in as it is found (``Weight.learn``), beside what autograd carries.

All tensors are flat over tokens, [tokens, features]: no padding is ever multiplied. The residual stream,
norms, softmax and losses are float32; matrix products run in the dtype of the frozen weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from trainer.model.weight import Weight

# One side of an adapter; None: there is no adapter.
Matrix = torch.Tensor | None


class LoraLinear(Function):
    """``y = x W^T + scale (x A^T) B^T``; gradients for x, A and B only (LoRA, arXiv 2106.09685)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: Weight, a: Matrix, b: Matrix, scale: float) -> Any:
        """x [t, in], weight [out, in], a [r, in], b [out, r] -> [t, out]; x, a and b are of one dtype."""
        out, inner = changed(x, weight, a, b, scale)
        ctx.save_for_backward(x, a, b, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients of the above."""
        x, a, b, inner = ctx.saved_tensors
        ctx.weight.learn(grad, x)
        grad_inner, grad_a, grad_b = lora_gradients(grad, x, a, b, inner, ctx.scale)
        grad_x = through(grad, ctx.weight, grad_inner, a) if ctx.needs_input_grad[0] else None
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
        weight: Weight,
        a: Matrix,
        b: Matrix,
        scale: float,
        dtype: torch.dtype,
    ) -> Any:
        """x float32 [t, in] -> [t, out] in ``dtype``, which is that of a and b."""
        inverse = inverse_rms(x, epsilon)
        unit = x * inverse
        out, inner = changed((unit * gain).to(dtype), weight, a, b, scale)
        ctx.save_for_backward(unit.to(dtype), gain, inverse, a, b, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for x, the gain, A and B."""
        unit, gain, inverse, a, b, inner = ctx.saved_tensors
        grad_gain = ctx.weight.learn(grad, unit, gain)
        normed = None if a is None else (unit * gain).to(a.dtype)
        grad_inner, grad_a, grad_b = lora_gradients(grad, normed, a, b, inner, ctx.scale)
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x = before_norm(through(grad, ctx.weight, grad_inner, a), unit, gain, inverse)
        return grad_x, grad_gain, None, None, grad_a, grad_b, None, None


class GatedLinear(Function):
    """``LoraLinear`` of the gated unit ``silu(gate) * up`` (SwiGLU, arXiv 2002.05202) or ``gelu_tanh(gate) * up``.

    Of the feed-forward only ``gate_up`` is kept: the unit is computed again for the gradient.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gate_up: torch.Tensor,
        activation: str,
        weight: Weight,
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
        unit = open_gate * up
        ctx.weight.learn(grad, unit)
        grad_inner, grad_a, grad_b = lora_gradients(grad, unit, a, b, inner, ctx.scale)
        to_unit = through(grad, ctx.weight, grad_inner, a)
        out = torch.empty_like(gate_up)
        to_gate, to_up = out.chunk(2, dim=-1)
        torch.mul(open_gate, to_unit, out=to_up)
        to_unit.mul_(up)
        if ctx.activation == "silu":
            to_gate.copy_(torch.ops.aten.silu_backward(to_unit, gate))
        else:
            to_gate.copy_(torch.ops.aten.gelu_backward(to_unit, gate, approximate="tanh"))
        return out, None, None, grad_a, grad_b, None


class RmsNorm(Function):
    """``x / rms(x) * gain`` in float32, given in ``dtype`` (arXiv 1910.07467)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gain: torch.Tensor, epsilon: float, dtype: torch.dtype) -> Any:
        """x [..., n], gain [n] -> [..., n]."""
        wide = x.float()
        inverse = inverse_rms(wide, epsilon)
        ctx.save_for_backward(x, gain, inverse)
        return (wide * inverse).mul_(gain).to(dtype)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for x and, where it is trained, the gain."""
        x, gain, inverse = ctx.saved_tensors
        unit = x.float() * inverse
        grad_gain = (grad * unit).flatten(0, -2).sum(0) if ctx.needs_input_grad[1] else None
        return before_norm(grad, unit, gain, inverse).to(x.dtype), grad_gain, None, None


def _activated(gate: torch.Tensor, activation: str) -> torch.Tensor:
    if activation == "silu":
        return torch.nn.functional.silu(gate)
    return torch.nn.functional.gelu(gate, approximate="tanh")


def inverse_rms(x: torch.Tensor, epsilon: float) -> torch.Tensor:
    """[..., n] -> [..., 1]"""
    return torch.rsqrt(x.square().mean(-1, keepdim=True).add_(epsilon))


def before_norm(grad: torch.Tensor, unit: torch.Tensor, gain: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """The float32 gradient for what was normed: ``unit`` is it without the gain."""
    scaled = grad.float() * gain
    along = (scaled * unit).mean(-1, keepdim=True)
    return scaled.addcmul_(unit, along, value=-1.0).mul_(inverse)


def changed(x: torch.Tensor, weight: Weight, a: Matrix, b: Matrix, scale: float) -> tuple[torch.Tensor, Matrix]:
    """The product with what the adapter adds, if there is one [t, out], and what is between A and B [t, r]."""
    if a is None or b is None:
        return weight.times(x), None
    inner = x @ a.t()
    return weight.times(x).addmm_(inner, b.t(), alpha=scale), inner


def lora_gradients(
    grad: torch.Tensor, x: Matrix, a: Matrix, b: Matrix, inner: Matrix, scale: float
) -> tuple[Matrix, Matrix, Matrix]:
    """Of what is between A and B, of A and of B; None of an adapter that is not there."""
    if x is None or b is None or inner is None:
        return None, None, None
    grad_inner = (grad @ b).mul_(scale)
    return grad_inner, grad_inner.t() @ x, (grad.t() @ inner).mul_(scale)


def through(grad: torch.Tensor, weight: Weight, grad_inner: Matrix, a: Matrix) -> torch.Tensor:
    """The gradient for what ``changed`` multiplied: [t, in]."""
    back = weight.back(grad)
    return back if grad_inner is None or a is None else back.addmm_(grad_inner, a)
