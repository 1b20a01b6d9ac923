"""The decoder's operations with gradients written out, so that little is kept and no frozen weight gets one.

All tensors are flat over tokens, [tokens, features]: no padding is ever multiplied. The residual stream,
norms, softmax and losses are float32; matrix products run in the dtype of the frozen weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import Function

from trainer.model.frozen import Frozen


@dataclass(frozen=True)
class AttentionPlan:
    """Which tokens look at which, as padded rows: one row is a path through the pack's tree of tokens.

    ``queries`` [rows, q] and ``keys`` [rows, k] index tokens; ``spot`` [tokens] is where each token's answer stands
    in the flattened [rows * q]; ``mask`` [rows, 1, q, k] is added to the scores (0 or a very low number).
    """

    queries: torch.Tensor
    keys: torch.Tensor
    spot: torch.Tensor
    mask: torch.Tensor


class LoraLinear(Function):
    """``y = x W^T + scale (x A^T) B^T``; gradients for x, A and B only (LoRA, arXiv 2106.09685)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: Frozen, a: torch.Tensor, b: torch.Tensor, scale: float) -> Any:
        """x [t, in], weight [out, in], a [r, in], b [out, r] -> [t, out]; x, a and b are of one dtype."""
        inner = x @ a.t()
        out = weight.times(x).addmm_(inner, b.t(), alpha=scale)
        ctx.save_for_backward(x, a, b, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients of the above."""
        x, a, b, inner = ctx.saved_tensors
        grad_inner = (grad @ b).mul_(ctx.scale)
        grad_b = (grad.t() @ inner).mul_(ctx.scale)
        grad_a = grad_inner.t() @ x
        grad_x = ctx.weight.back(grad).addmm_(grad_inner, a) if ctx.needs_input_grad[0] else None
        return grad_x, None, grad_a, grad_b, None


class RmsNorm(Function):
    """``x / rms(x) * gain`` in float32, given in ``dtype`` (arXiv 1910.07467)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gain: torch.Tensor, epsilon: float, dtype: torch.dtype) -> Any:
        """x [..., n], gain [n] -> [..., n]."""
        wide = x.float()
        inverse = torch.rsqrt(wide.square().mean(-1, keepdim=True).add_(epsilon))
        ctx.save_for_backward(x, gain, inverse)
        return (wide * inverse).mul_(gain).to(dtype)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradient for x; the gain is frozen."""
        x, gain, inverse = ctx.saved_tensors
        unit = x.float() * inverse
        scaled = grad.float() * gain
        along = (scaled * unit).mean(-1, keepdim=True)
        return scaled.addcmul_(unit, along, value=-1.0).mul_(inverse).to(x.dtype), None, None, None


class GatedUnit(Function):
    """``silu(gate) * up`` (SwiGLU, arXiv 2002.05202) or ``gelu_tanh(gate) * up``, keeping only its input."""

    @staticmethod
    def forward(ctx: Any, gate_up: torch.Tensor, activation: str) -> Any:
        """gate_up [t, 2 f] -> [t, f]."""
        ctx.save_for_backward(gate_up)
        ctx.activation = activation
        gate, up = gate_up.chunk(2, dim=-1)
        if activation == "silu":
            return torch.nn.functional.silu(gate).mul_(up)
        return torch.nn.functional.gelu(gate, approximate="tanh").mul_(up)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradient for gate_up."""
        (gate_up,) = ctx.saved_tensors
        gate, up = gate_up.chunk(2, dim=-1)
        out = torch.empty_like(gate_up)
        to_gate, to_up = out.chunk(2, dim=-1)
        through = grad * up
        if ctx.activation == "silu":
            to_up.copy_(torch.nn.functional.silu(gate).mul_(grad))
            to_gate.copy_(torch.ops.aten.silu_backward(through, gate))
        else:
            to_up.copy_(torch.nn.functional.gelu(gate, approximate="tanh").mul_(grad))
            to_gate.copy_(torch.ops.aten.gelu_backward(through, gate, approximate="tanh"))
        return out, None


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """RoPE (arXiv 2104.09864) on the halves of the last axis: x [t, heads, size], cosine and sine [t, 1, size / 2]."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x.dtype)


class Attention(Function):
    """RoPE and grouped-query attention along the paths of an AttentionPlan."""

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cosine: torch.Tensor,
        sine: torch.Tensor,
        plan: AttentionPlan,
        scale: float,
    ) -> Any:
        """query [t, heads, size]; key, value [t, kv_heads, size] -> [t, heads * size]."""
        heads, size = query.shape[1:]
        groups = key.shape[1]
        query, key = rotate(query, cosine, sine), rotate(key, cosine, sine)
        queries = _query_rows(query, plan, groups)
        keys, values = _key_rows(key, plan), _key_rows(value, plan)
        rows, length = plan.queries.shape
        scores = (queries @ keys.transpose(-1, -2)).float().mul_(scale)
        scores.view(rows, groups, heads // groups, length, -1).add_(plan.mask.unsqueeze(1))
        weights = torch.softmax(scores, dim=-1).to(query.dtype)
        out = (weights @ values).view(rows, heads, length, size).transpose(1, 2).reshape(rows * length, heads * size)
        ctx.save_for_backward(query, key, value, cosine, sine, weights)
        ctx.plan, ctx.scale = plan, scale
        return out.index_select(0, plan.spot)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for query, key and value."""
        query, key, value, cosine, sine, weights = ctx.saved_tensors
        plan: AttentionPlan = ctx.plan
        tokens, heads, size = query.shape
        groups = key.shape[1]
        rows, length = plan.queries.shape
        # A padded query stands on no spot: its row of the gradient stays zero.
        padded = grad.new_zeros(rows * length, heads * size).index_copy_(0, plan.spot, grad)
        padded = padded.view(rows, length, heads, size).transpose(1, 2).reshape(rows, groups, -1, size)
        queries = _query_rows(query, plan, groups)
        keys, values = _key_rows(key, plan), _key_rows(value, plan)
        to_values = weights.transpose(-1, -2) @ padded
        to_weights = (padded @ values.transpose(-1, -2)).float()
        wide = weights.float()
        to_scores = wide * (to_weights - (to_weights * wide).sum(-1, keepdim=True))
        to_scores = to_scores.mul_(ctx.scale).to(query.dtype)
        to_queries = (to_scores @ keys).view(rows, heads, length, size).transpose(1, 2)
        to_queries = to_queries.reshape(rows * length, heads, size).index_select(0, plan.spot)
        to_keys = to_scores.transpose(-1, -2) @ queries
        return (
            rotate(to_queries, cosine, -sine),
            rotate(_tokens_from_rows(to_keys, plan, tokens), cosine, -sine).to(key.dtype),
            _tokens_from_rows(to_values, plan, tokens).to(value.dtype),
            *(None,) * 4,
        )


def _query_rows(x: torch.Tensor, plan: AttentionPlan, groups: int) -> torch.Tensor:
    """[t, heads, size] -> [rows, groups, heads / groups * q, size]."""
    rows, length = plan.queries.shape
    picked = x.index_select(0, plan.queries.view(-1)).view(rows, length, x.shape[1], x.shape[2])
    return picked.transpose(1, 2).reshape(rows, groups, -1, x.shape[2])


def _key_rows(x: torch.Tensor, plan: AttentionPlan) -> torch.Tensor:
    """[t, groups, size] -> [rows, groups, k, size]."""
    rows, length = plan.keys.shape
    return x.index_select(0, plan.keys.view(-1)).view(rows, length, x.shape[1], x.shape[2]).transpose(1, 2)


def _tokens_from_rows(x: torch.Tensor, plan: AttentionPlan, tokens: int) -> torch.Tensor:
    """[rows, groups, k, size] summed over the rows that a token is a key of -> [t, groups, size], float32."""
    rows, groups, length, size = x.shape
    flat = x.transpose(1, 2).reshape(rows * length, groups * size).float()
    summed = flat.new_zeros(tokens, groups * size).index_add_(0, plan.keys.reshape(-1), flat)
    return summed.view(tokens, groups, size)


class TargetLogProbs(Function):
    """Log-probabilities of chosen (row, token) pairs under ``softmax(hidden head^T)``, all of the vocabulary counted.

    The logits are float32, and by far the largest tensor of a step where the vocabulary is large: what is kept for the
    gradient becomes the gradient in place, so ``backward`` runs once.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        head: Frozen,
        rows: torch.Tensor,
        tokens: torch.Tensor,
        dtype: torch.dtype,
        cap: float,
    ) -> Any:
        """hidden [m, width], head [vocabulary, width], rows and tokens [pairs] -> float32 [pairs]."""
        logits = capped(head.times(hidden), cap)
        total = torch.logsumexp(logits, dim=-1)
        ctx.save_for_backward(total, rows, tokens)
        ctx.logits, ctx.head, ctx.dtype, ctx.cap = logits, head, dtype, cap
        return logits[rows, tokens] - total.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradient for hidden."""
        total, rows, tokens = ctx.saved_tensors
        logits, ctx.logits = ctx.logits, None
        weight = grad.new_zeros(logits.shape[0]).index_add_(0, rows, grad)
        slope = 1.0 - (logits / ctx.cap).square_() if ctx.cap else None
        spread = logits.sub_(total.unsqueeze(1)).exp_().mul_(weight.neg_().unsqueeze(1))
        # In one order, so that it is the same to the bit each time: index_put_ adds many pairs in any order.
        spread.view(-1).index_add_(0, rows * spread.shape[1] + tokens, grad)
        if slope is not None:
            spread.mul_(slope)
        product = ctx.head.back(spread.to(ctx.dtype))
        return product.float(), *(None,) * 5


def capped(logits: torch.Tensor, cap: float) -> torch.Tensor:
    """``cap * tanh(logits / cap)`` in place (arXiv 2408.00118, 2); the logits themselves where ``cap`` is 0."""
    return logits.div_(cap).tanh_().mul_(cap) if cap else logits
