"""RoPE and grouped-query attention along the paths of a pack, with its gradient written out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch.autograd import Function

NEVER = -1e9  # added to a score that must not count; finite, so that a row of padding alone stays finite


@dataclass(frozen=True)
class AttentionPlan:
    """Which tokens look at which, as padded rows: one row is a path through the pack's tree of tokens. All int64.

    ``queries`` [rows, q] and ``keys`` [rows, k] index tokens, -1: padding; ``spot`` [tokens] is where each token's
    answer stands in the flattened [rows * q]. A query looks at its row's keys from ``begins`` to before ``ends``, both
    [rows, q]; padding at none.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    spot: torch.Tensor
    begins: torch.Tensor
    ends: torch.Tensor

    def sliding(self, window: int) -> AttentionPlan:
        """The plan where nobody looks at what is ``window`` tokens back or more."""
        return replace(self, begins=(self.ends - window).clamp_min(0))

    @cached_property
    def mask(self) -> torch.Tensor:
        """What is added to the scores, 0 or a very low number: float32 [rows, 1, q, k]."""
        places = torch.arange(self.keys.shape[1], device=self.keys.device)
        hidden = (places < self.begins.unsqueeze(2)) | (places >= self.ends.unsqueeze(2))
        return torch.zeros(hidden.shape, device=hidden.device).masked_fill_(hidden, NEVER).unsqueeze(1)

    @cached_property
    def key_spots(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Where each token is a key, in the flattened [rows * k]: token i at ``slots[starts[i]:starts[i + 1]]``."""
        tokens, slots = torch.sort(self.keys.view(-1), stable=True)
        return torch.searchsorted(tokens, torch.arange(len(self.spot) + 1)), slots

    @cached_property
    def query_starts(self) -> torch.Tensor:
        """``key_spots``' starts for the queries, where each token has its one spot."""
        return torch.arange(len(self.spot) + 1)


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """RoPE (arXiv 2104.09864) on the halves of the last axis: x [t, heads, size], cosine and sine [t, 1, size / 2]."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x.dtype)


class Attention(Function):
    """RoPE and grouped-query attention along the paths of an AttentionPlan.

    How much each token looks at each is computed again for the gradient (arXiv 2205.14135): kept for all layers, it
    would be the largest tensor of a step of long answers.
    """

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
        rows, length = plan.queries.shape
        weights = _weights(_query_rows(query, plan, groups), _key_rows(key, plan), plan, scale).to(query.dtype)
        out = weights @ _key_rows(value, plan)
        out = out.view(rows, heads, length, size).transpose(1, 2).reshape(rows * length, heads * size)
        # A copy: the value that was given is a part of what also holds query and key.
        ctx.save_for_backward(query, key, value.contiguous(), cosine, sine)
        ctx.plan, ctx.scale = plan, scale
        return out.index_select(0, plan.spot)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for query, key and value."""
        query, key, value, cosine, sine = ctx.saved_tensors
        plan: AttentionPlan = ctx.plan
        tokens, heads, size = query.shape
        groups = key.shape[1]
        rows, length = plan.queries.shape
        # A padded query stands on no spot: its row of the gradient stays zero.
        padded = grad.new_zeros(rows * length, heads * size).index_copy_(0, plan.spot, grad)
        padded = padded.view(rows, length, heads, size).transpose(1, 2).reshape(rows, groups, -1, size)
        queries = _query_rows(query, plan, groups)
        keys, values = _key_rows(key, plan), _key_rows(value, plan)
        weights = _weights(queries, keys, plan, ctx.scale)
        to_values = weights.to(query.dtype).transpose(-1, -2) @ padded
        to_weights = (padded @ values.transpose(-1, -2)).float()
        to_weights.sub_((to_weights * weights).sum(-1, keepdim=True))
        to_scores = weights.mul_(to_weights).mul_(ctx.scale).to(query.dtype)
        to_queries = (to_scores @ keys).view(rows, heads, length, size).transpose(1, 2)
        to_queries = to_queries.reshape(rows * length, heads, size).index_select(0, plan.spot)
        to_keys = to_scores.transpose(-1, -2) @ queries
        return (
            rotate(to_queries, cosine, -sine),
            rotate(_tokens_from_rows(to_keys, plan, tokens), cosine, -sine).to(key.dtype),
            _tokens_from_rows(to_values, plan, tokens).to(value.dtype),
            *(None,) * 4,
        )


def _weights(queries: torch.Tensor, keys: torch.Tensor, plan: AttentionPlan, scale: float) -> torch.Tensor:
    """How much each query looks at each key: float32 [rows, groups, heads / groups * q, k]."""
    rows, length = plan.queries.shape
    groups = keys.shape[1]
    scores = (queries @ keys.transpose(-1, -2)).float().mul_(scale)
    scores.view(rows, groups, -1, length, scores.shape[-1]).add_(plan.mask.unsqueeze(1))
    return torch.softmax(scores, dim=-1)


def _query_rows(x: torch.Tensor, plan: AttentionPlan, groups: int) -> torch.Tensor:
    """[t, heads, size] -> [rows, groups, heads / groups * q, size]."""
    rows, length = plan.queries.shape
    picked = x.index_select(0, plan.queries.clamp_min(0).view(-1)).view(rows, length, x.shape[1], x.shape[2])
    return picked.transpose(1, 2).reshape(rows, groups, -1, x.shape[2])


def _key_rows(x: torch.Tensor, plan: AttentionPlan) -> torch.Tensor:
    """[t, groups, size] -> [rows, groups, k, size]."""
    rows, length = plan.keys.shape
    return x.index_select(0, plan.keys.clamp_min(0).view(-1)).view(rows, length, x.shape[1], x.shape[2]).transpose(1, 2)


def _tokens_from_rows(x: torch.Tensor, plan: AttentionPlan, tokens: int) -> torch.Tensor:
    """[rows, groups, k, size] summed over the rows that a token is a key of -> [t, groups, size], float32."""
    rows, groups, length, size = x.shape
    flat = x.transpose(1, 2).reshape(rows * length, groups * size).float()
    summed = flat.new_zeros(tokens, groups * size).index_add_(0, plan.keys.clamp_min(0).view(-1), flat)
    return summed.view(tokens, groups, size)
