"""Low-rank adapters on the seven projections of every layer (LoRA, arXiv 2106.09685)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import torch
from torch.autograd import Function

from trainer.model.config import DecoderConfig

# The frozen weights are multiplied in four products; each holds the projections that share an input.
PRODUCTS: dict[str, tuple[str, ...]] = {
    "qkv": ("q", "k", "v"),
    "output": ("o",),
    "gate_up": ("gate", "up"),
    "down": ("down",),
}


def projection_shape(config: DecoderConfig, projection: str) -> tuple[int, int]:
    """(out, in) of one of the seven projections."""
    queries, keys = config.heads * config.head_size, config.kv_heads * config.head_size
    return {
        "q": (queries, config.width),
        "k": (keys, config.width),
        "v": (keys, config.width),
        "o": (config.width, queries),
        "gate": (config.feed_forward, config.width),
        "up": (config.feed_forward, config.width),
        "down": (config.width, config.feed_forward),
    }[projection]


@dataclass
class LoraAdapter:
    """``a[layer, projection]`` [rank, in] and ``b[layer, projection]`` [out, rank], float32, the trained parameters."""

    rank: int
    alpha: float
    a: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)
    b: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        return self.alpha / self.rank

    def parameters(self) -> list[torch.Tensor]:
        """Every trained tensor, in a stable order."""
        return [tensor for key in self.a for tensor in (self.a[key], self.b[key])]

    def product(self, layer: int, name: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """A [n rank, in] and block-diagonal B [out, n rank] of the projections that one product holds."""
        parts = PRODUCTS[name]
        a: torch.Tensor = Joined.apply(dtype, False, *(self.a[layer, part] for part in parts))
        b: torch.Tensor = Joined.apply(dtype, True, *(self.b[layer, part] for part in parts))
        return a, b


class Joined(Function):
    """Matrices one below the other, or from corner to corner and zero elsewhere, as one in ``dtype``."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, diagonal: bool, *parts: torch.Tensor) -> Any:
        """[rows, columns] each -> [sum of rows, columns or, if ``diagonal``, the sum of columns]."""
        bottoms = list(accumulate(len(part) for part in parts))
        rights = list(accumulate(part.shape[1] for part in parts)) if diagonal else [parts[0].shape[1]] * len(parts)
        out = parts[0].new_empty(bottoms[-1], rights[-1], dtype=dtype)
        if diagonal and len(parts) > 1:
            out.zero_()
        ctx.places = [
            (slice(bottom - len(part), bottom), slice(right - part.shape[1], right))
            for part, bottom, right in zip(parts, bottoms, rights, strict=True)
        ]
        for place, part in zip(ctx.places, parts, strict=True):
            out[place].copy_(part)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Each one's part, in float32."""
        return None, None, *(grad[place].float() for place in ctx.places)


def new_adapter(config: DecoderConfig, rank: int, alpha: float, generator: torch.Generator) -> LoraAdapter:
    """A fresh adapter as PEFT makes it: A uniform (Kaiming, a = sqrt 5), B zero, so that it changes nothing yet."""
    adapter = LoraAdapter(rank=rank, alpha=alpha)
    for layer in range(config.layers):
        for projection in (part for parts in PRODUCTS.values() for part in parts):
            rows, columns = projection_shape(config, projection)
            bound = 1.0 / math.sqrt(columns)
            a = (torch.rand(rank, columns, generator=generator) * 2 - 1) * bound
            adapter.a[layer, projection] = a.requires_grad_()
            adapter.b[layer, projection] = torch.zeros(rows, rank, requires_grad=True)
    return adapter
