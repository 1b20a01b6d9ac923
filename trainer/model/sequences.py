"""Plain sequences of one length, which a model is trained on whole, and their causal attention."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch.autograd import Function
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from trainer.model.attention import rotate
from trainer.model.kernels import before_norm, inverse_rms

# Queries that are multiplied at once with all keys up to the last of theirs: fewer leave more of the square above the
# diagonal out, more make larger products. The result is the same.
BLOCK = 64
Way = Literal["math", "efficient", "flash"]
WAYS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
}


@dataclass(frozen=True)
class Causal:
    """``count`` sequences of ``length`` tokens one after the other; each token looks at those of its own up to itself.

    ``way``: which of torch's computations is used, without another in its place.
    """

    count: int
    length: int
    way: Way

    @property
    def block(self) -> int:
        """Queries of a block."""
        return min(BLOCK, self.length)

    @property
    def blocks(self) -> int:
        """How many blocks of queries a sequence is cut into."""
        return -(-self.length // self.block)

    @cached_property
    def queries(self) -> torch.Tensor:
        """Which token each query is, a block of all sequences after the other: [blocks * count, block], -1: none."""
        places = torch.arange(self.blocks * self.block).view(self.blocks, 1, self.block)
        tokens = places + torch.arange(self.count).view(1, -1, 1) * self.length
        return torch.where(places < self.length, tokens, -1).view(-1, self.block)

    @cached_property
    def keys(self) -> torch.Tensor:
        """Which token each key is: [count, length]."""
        return torch.arange(self.count * self.length).view(self.count, self.length)

    @cached_property
    def spots(self) -> torch.Tensor:
        """Where each token is a query, in the flattened ``queries``."""
        sequence, place = self.keys // self.length, self.keys % self.length
        return ((place // self.block * self.count + sequence) * self.block + place % self.block).view(-1)

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where the places of each token begin, of which it has one."""
        return torch.arange(self.count * self.length + 1)

    @cached_property
    def ends(self) -> torch.Tensor:
        """Before which key of its sequence each query stops to look, 0: it is none: [blocks, count, block]."""
        places = torch.arange(self.blocks * self.block).view(self.blocks, 1, self.block)
        return torch.where(places < self.length, places + 1, 0).expand(-1, self.count, -1).contiguous()

    def attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float) -> torch.Tensor:
        """query [t, heads, size]; key, value [t, kv_heads, size], in place already -> [t, heads * size]."""
        groups = query.shape[1] // key.shape[1]
        # Every key is looked at by a group of queries; that all of torch's ways know only with a key for each.
        keys, values = (self._rows(each).repeat_interleave(groups, 1) for each in (key, value))
        with sdpa_kernel(WAYS[self.way]):
            out = scaled_dot_product_attention(self._rows(query), keys, values, is_causal=True, scale=scale)
        return out.transpose(1, 2).flatten(2).flatten(0, 1)

    def _rows(self, x: torch.Tensor) -> torch.Tensor:
        """[t, heads, size] -> [count, heads, length, size]."""
        return x.view(self.count, self.length, *x.shape[1:]).transpose(1, 2)


@dataclass(frozen=True)
class Sequences:
    """A batch for the decoder. All index tensors are int64 [count * length]; ``targets`` are the tokens that follow."""

    tokens: torch.Tensor
    targets: torch.Tensor
    positions: torch.Tensor
    plan: Causal
    rows: None = None  # every token is asked


def sequences_of(numbers: NDArray[np.int64], way: Way, device: torch.device) -> Sequences:
    """``numbers`` [count, length + 1] as a batch: of each token but the last of a row, the one after it is wanted."""
    count, length = numbers.shape[0], numbers.shape[1] - 1
    whole = torch.from_numpy(np.ascontiguousarray(numbers)).to(device)
    return Sequences(
        tokens=whole[:, :-1].reshape(-1),
        targets=whole[:, 1:].reshape(-1),
        positions=torch.arange(length, device=device).repeat(count),
        plan=Causal(count, length, way),
    )


class TurnedHeads(Function):
    """QK-norm (arXiv 2010.04245), where there is a gain, and RoPE of heads. What went in is all that is kept."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        gain: torch.Tensor | None,
        epsilon: float,
        cosine: torch.Tensor,
        sine: torch.Tensor,
    ) -> Any:
        """x [t, heads, size], gain [size], cosine and sine [t, 1, size / 2] -> [t, heads, size]."""
        wide = x.float()
        inverse = None
        if gain is not None:
            inverse = inverse_rms(wide, epsilon)
            wide = (wide * inverse).mul_(gain)
        ctx.save_for_backward(x, gain, inverse, cosine, sine)
        return rotate(wide, cosine, sine).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradients for x and the gain."""
        x, gain, inverse, cosine, sine = ctx.saved_tensors
        back = rotate(grad.float(), cosine, -sine)
        if gain is None:
            return back.to(x.dtype), None, None, None, None
        unit = x.float() * inverse
        to_gain = (back * unit).sum((0, 1)) if ctx.needs_input_grad[1] else None
        return before_norm(back, unit, gain, inverse).to(x.dtype), to_gain, None, None, None
