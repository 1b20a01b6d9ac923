"""The operations of kernels.py and attention.py with compiled code between the products.

The same numbers in fewer passes: where PyTorch goes through the memory once for every sum, product and change of
format, this goes once for all of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from trainer.model.attention import AttentionPlan
from trainer.model.compiled import Compiled
from trainer.model.kernels import Matrix, changed, lora_gradients, through
from trainer.model.weight import Weight


class FusedNormedLinear(Function):
    """What a layer adds to the stream, and ``LoraLinear`` of ``RmsNorm`` of it."""

    @staticmethod
    def forward(
        ctx: Any,
        compiled: Compiled,
        x: torch.Tensor,
        added: torch.Tensor | None,
        gain: torch.Tensor,
        epsilon: float,
        weight: Weight,
        a: Matrix,
        b: Matrix,
        scale: float,
    ) -> Any:
        """x float32 [t, in], added [t, in] -> their sum, float32, and [t, out]; what is not float32 is of one dtype."""
        total = x if added is None else torch.empty_like(x)
        normed, unit = (torch.empty_like(x, dtype=compiled.dtype) for _ in range(2))
        inverse = x.new_empty(len(x))
        compiled("norm", x, added, gain, epsilon, *x.shape, total, normed, unit, inverse)
        out, inner = changed(normed, weight, a, b, scale)
        ctx.save_for_backward(unit, gain, inverse, a, b, inner)
        ctx.compiled, ctx.weight, ctx.scale = compiled, weight, scale
        return total, out

    @staticmethod
    def backward(ctx: Any, carried: torch.Tensor, grad: torch.Tensor) -> Any:
        """Gradients for x, what is added, the gain, A and B."""
        unit, gain, inverse, a, b, inner = ctx.saved_tensors
        # The gain is the same for all tokens: what a gradient takes of it can wait until they are summed.
        grad_gain = ctx.weight.learn(grad, unit, gain)
        grad_inner, grad_a, grad_b = lora_gradients(grad, unit, a, b, inner, ctx.scale)
        if grad_a is not None:
            grad_a.mul_(gain)
        to_x = to_added = None
        if ctx.needs_input_grad[1]:
            to_normed = through(grad, ctx.weight, grad_inner, a)
            to_x, to_added = torch.empty_like(unit, dtype=torch.float32), torch.empty_like(unit)
            given = (to_normed, unit, gain, inverse, carried.contiguous())
            ctx.compiled("norm_back", *given, *unit.shape, to_x, to_added)
        to_added = to_added if ctx.needs_input_grad[2] else None
        return None, to_x, to_added, grad_gain, None, None, grad_a, grad_b, None


class FusedGatedLinear(Function):
    """``GatedLinear``."""

    @staticmethod
    def forward(
        ctx: Any,
        compiled: Compiled,
        gate_up: torch.Tensor,
        activation: str,
        weight: Weight,
        a: Matrix,
        b: Matrix,
        scale: float,
    ) -> Any:
        """gate_up [t, 2 f], weight [out, f] -> [t, out]."""
        gelu, (tokens, both) = int(activation == "gelu"), gate_up.shape
        unit = gate_up.new_empty(tokens, both // 2)
        compiled("gate", gate_up, gelu, *unit.shape, unit)
        out, inner = changed(unit, weight, a, b, scale)
        ctx.save_for_backward(gate_up, a, b, inner)
        ctx.compiled, ctx.weight, ctx.scale, ctx.gelu = compiled, weight, scale, gelu
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for gate_up, A and B."""
        gate_up, a, b, inner = ctx.saved_tensors
        grad_inner = None if b is None else (grad @ b).mul_(ctx.scale)
        to_unit = through(grad, ctx.weight, grad_inner, a)
        unit, out = torch.empty_like(to_unit), torch.empty_like(gate_up)
        ctx.compiled("gate_back", gate_up, to_unit, ctx.gelu, *unit.shape, unit, out)
        ctx.weight.learn(grad, unit)
        if grad_inner is None:
            return None, out, *(None,) * 5
        return None, out, None, None, grad_inner.t() @ unit, (grad.t() @ inner).mul_(ctx.scale), None


class FusedAttention(Function):
    """``Attention``: the rows that are multiplied are picked and turned at once, forward and for the gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        compiled: Compiled,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cosine: torch.Tensor,
        sine: torch.Tensor,
        plan: AttentionPlan,
        scale: float,
    ) -> Any:
        """query [t, heads, size]; key, value [t, kv_heads, size] -> [t, heads * size]."""
        ctx.save_for_backward(query, key, value, cosine, sine)
        ctx.rows, ctx.scale = _PlannedRows(compiled, plan, cosine, sine), scale
        rows: _PlannedRows = ctx.rows
        queries, keys = rows.of_queries(query, key.shape[1], turn=1.0), rows.of_keys(key, turn=1.0)
        weights = queries @ keys.transpose(1, 2)
        rows.attend("attend", weights, scale=scale)
        return rows.back_to_queries(weights @ rows.of_keys(value, turn=0.0), turn=0.0).flatten(1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for query, key and value."""
        query, key, value, *_ = ctx.saved_tensors
        rows: _PlannedRows = ctx.rows
        groups = key.shape[1]
        queries, keys = rows.of_queries(query, groups, turn=1.0), rows.of_keys(key, turn=1.0)
        # A padded query stands for no token: its row of the gradient is zero.
        padded = rows.of_queries(grad.reshape(query.shape), groups, turn=0.0)
        weights = queries @ keys.transpose(1, 2)
        slopes = padded @ rows.of_keys(value, turn=0.0).transpose(1, 2)
        rows.attend("attend_back", weights, slopes, scale=ctx.scale)
        to_values = rows.back_to_keys(weights.transpose(1, 2) @ padded, groups, turn=0.0)
        to_queries = rows.back_to_queries(slopes @ keys, turn=-1.0)
        to_keys = rows.back_to_keys(slopes.transpose(1, 2) @ queries, groups, turn=-1.0)
        return None, to_queries, to_keys, to_values, *(None,) * 4


class Rows:
    """Tokens as the rows that are multiplied, and back, on the way turned by RoPE as far as ``turn`` says."""

    def __init__(self, compiled: Compiled, cosine: torch.Tensor, sine: torch.Tensor) -> None:
        self.compiled = compiled
        self._angles = cosine, sine

    def of(self, x: torch.Tensor, places: torch.Tensor, *, turn: float) -> torch.Tensor:
        """Of x [t, heads, size] those at ``places`` [pieces, length], zeros below 0: [pieces, heads, length, size]."""
        _, heads, size = x.shape
        x = x if x.stride()[1:] == (size, 1) else x.contiguous()
        count, length = places.shape
        rows = x.new_empty(count, heads, length, size)
        self.compiled("to_rows", x, x.stride(0), places, count, heads, length, size, *self._angles, turn, rows)
        return rows

    def back(
        self, rows: torch.Tensor, starts: torch.Tensor, slots: torch.Tensor, heads: int, length: int, *, turn: float
    ) -> torch.Tensor:
        """The reverse, [t, heads, size]: of token i the sum over its places, ``slots[starts[i]:starts[i + 1]]``."""
        tokens, size = len(starts) - 1, rows.shape[-1]
        out = rows.new_empty(tokens, heads, size)
        self.compiled("from_rows", rows, starts, slots, tokens, heads, length, size, *self._angles, turn, out)
        return out


class _PlannedRows(Rows):
    """The padded rows of a plan."""

    def __init__(self, compiled: Compiled, plan: AttentionPlan, cosine: torch.Tensor, sine: torch.Tensor) -> None:
        super().__init__(compiled, cosine, sine)
        self._plan = plan

    def of_queries(self, x: torch.Tensor, groups: int, *, turn: float) -> torch.Tensor:
        """[t, heads, size] -> [rows * groups, heads / groups * q, size]."""
        return self.of(x, self._plan.queries, turn=turn).view(len(self._plan.queries) * groups, -1, x.shape[2])

    def of_keys(self, x: torch.Tensor, *, turn: float) -> torch.Tensor:
        """[t, groups, size] -> [rows * groups, k, size]."""
        return self.of(x, self._plan.keys, turn=turn).flatten(0, 1)

    def back_to_queries(self, rows: torch.Tensor, *, turn: float) -> torch.Tensor:
        """What ``of_queries`` gives -> [t, heads, size]."""
        count, length = self._plan.queries.shape
        heads = rows.numel() // (count * length * rows.shape[-1])
        return self.back(rows, self._plan.query_starts, self._plan.spot, heads, length, turn=turn)

    def back_to_keys(self, rows: torch.Tensor, groups: int, *, turn: float) -> torch.Tensor:
        """What ``of_keys`` gives, summed over the rows that a token is a key of -> [t, groups, size]."""
        return self.back(rows, *self._plan.key_spots, groups, self._plan.keys.shape[1], turn=turn)

    def attend(self, name: str, *scores: torch.Tensor, scale: float) -> None:
        """One of the compiled functions over all scores [rows * groups, heads / groups * q, k]."""
        count, length = self._plan.queries.shape
        keys = scores[0].shape[-1]
        heads = scores[0].numel() // (count * length * keys)
        self.compiled(name, *scores, self._plan.begins, self._plan.ends, scale, count, heads, length, keys)
