"""Causal attention over plain sequences with compiled code between the products, from what the norm is asked for on."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from trainer.model.compiled import Compiled
from trainer.model.fused import Rows
from trainer.model.sequences import Causal


class FusedCausal(Function):
    """QK-norm, RoPE and grouped-query attention: ``TurnedHeads`` and ``Causal.attend``.

    A block of queries at a time looks at all keys up to its own, so that half of the square is never multiplied, and
    how much each looks at each is computed again for the gradient.
    """

    @staticmethod
    def forward(
        ctx: Any,
        compiled: Compiled,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        query_gain: torch.Tensor,
        key_gain: torch.Tensor,
        epsilon: float,
        cosine: torch.Tensor,
        sine: torch.Tensor,
        plan: Causal,
        scale: float,
    ) -> Any:
        """query [t, heads, size]; key, value [t, kv_heads, size] -> [t, heads * size]."""
        rows = Rows(compiled, cosine, sine)
        normed_query, *kept_query = _normed(compiled, query, query_gain, epsilon)
        normed_key, *kept_key = _normed(compiled, key, key_gain, epsilon)
        queries = rows.of(normed_query, plan.queries, turn=1.0)
        keys, values = (
            rows.of(each, plan.keys, turn=turn).flatten(0, 1) for each, turn in ((normed_key, 1.0), (value, 0.0))
        )
        out = torch.empty_like(queries)
        for block, (asking, answered) in enumerate(zip(*_in_blocks(plan, keys, queries, out), strict=True)):
            weights, seen = _scores(asking, keys, (block + 1) * plan.block)
            _attend(compiled, "attend", (weights,), plan, block, scale)
            torch.bmm(weights, values[:, :seen], out=answered)
        ctx.save_for_backward(queries, keys, values, query_gain, key_gain, *kept_query, *kept_key)
        ctx.rows, ctx.plan, ctx.scale = rows, plan, scale
        return rows.back(out, plan.starts, plan.spots, query.shape[1], plan.block, turn=0.0).flatten(1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for query, key, value and the two gains."""
        queries, keys, values, query_gain, key_gain, *kept = ctx.saved_tensors
        rows: Rows = ctx.rows
        plan: Causal = ctx.plan
        heads, size = queries.shape[1], queries.shape[-1]
        groups = len(keys) // plan.count
        grads = rows.of(grad.reshape(-1, heads, size), plan.queries, turn=0.0)
        to_queries = torch.empty_like(queries)
        to_keys, to_values = torch.zeros_like(keys), torch.zeros_like(values)
        together = zip(*_in_blocks(plan, keys, queries, grads, to_queries), strict=True)
        for block, (asking, flowing, to_asking) in enumerate(together):
            weights, seen = _scores(asking, keys, (block + 1) * plan.block)
            slopes = torch.bmm(flowing, values[:, :seen].transpose(1, 2))
            _attend(rows.compiled, "attend_back", (weights, slopes), plan, block, ctx.scale)
            to_values[:, :seen].baddbmm_(weights.transpose(1, 2), flowing)
            to_keys[:, :seen].baddbmm_(slopes.transpose(1, 2), asking)
            torch.bmm(slopes, keys[:, :seen], out=to_asking)
        tokens = plan.keys.view(-1)
        to_query = rows.back(to_queries, plan.starts, plan.spots, heads, plan.block, turn=-1.0)
        to_key = rows.back(to_keys, plan.starts, tokens, groups, plan.length, turn=-1.0)
        to_value = rows.back(to_values, plan.starts, tokens, groups, plan.length, turn=0.0)
        to_query, to_query_gain = _before_norm(rows.compiled, to_query, query_gain, *kept[:2])
        to_key, to_key_gain = _before_norm(rows.compiled, to_key, key_gain, *kept[2:])
        return None, to_query, to_key, to_value, to_query_gain, to_key_gain, *(None,) * 5


def _in_blocks(plan: Causal, keys: torch.Tensor, *rows: torch.Tensor) -> list[torch.Tensor]:
    """Each [blocks * count, heads, block, size] -> [blocks, count * groups, heads / groups * block, size].

    keys [count * groups, length, size]: all heads of a group look at the same.
    """
    return [each.view(plan.blocks, len(keys), -1, each.shape[-1]) for each in rows]


def _scores(asking: torch.Tensor, keys: torch.Tensor, end: int) -> tuple[torch.Tensor, int]:
    """What the queries of a block score at the keys before ``end``, and how many these are."""
    seen = min(end, keys.shape[1])
    return torch.bmm(asking, keys[:, :seen].transpose(1, 2)), seen


def _attend(
    compiled: Compiled, name: str, scores: tuple[torch.Tensor, ...], plan: Causal, block: int, scale: float
) -> None:
    """One of the compiled functions over the scores of a block."""
    ends = plan.ends[block]
    seen = scores[0].shape[-1]
    heads = scores[0].numel() // (ends.numel() * seen)
    compiled(name, *scores, torch.zeros_like(ends), ends, scale, plan.count, heads, plan.block, seen)


def _normed(
    compiled: Compiled, x: torch.Tensor, gain: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x [t, heads, size] normed, the same without its gain, and by what each head was multiplied [t * heads]."""
    wide = x.float().contiguous()
    normed, unit = (torch.empty_like(wide, dtype=compiled.dtype) for _ in range(2))
    inverse = wide.new_empty(wide.shape[0] * wide.shape[1])
    compiled("norm", wide, None, gain, epsilon, len(inverse), wide.shape[2], None, normed, unit, inverse)
    return normed, unit, inverse


def _before_norm(
    compiled: Compiled, grad: torch.Tensor, gain: torch.Tensor, unit: torch.Tensor, inverse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients for what was normed and for the gain."""
    to_gain = (grad.float() * unit).sum((0, 1))
    wide, narrow = torch.empty_like(unit, dtype=torch.float32), torch.empty_like(unit)
    nothing = torch.zeros_like(wide)
    compiled("norm_back", grad, unit, gain, inverse, nothing, len(inverse), unit.shape[2], wide, narrow)
    return narrow, to_gain
