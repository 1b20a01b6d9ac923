"""What the decoder says of chosen tokens, the head's logits in pieces of the vocabulary that are never kept."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from trainer.model.compiled import Compiled
from trainer.model.frozen import SLAB
from trainer.model.weight import Weight


class TargetLogProbs(Function):
    """Log-probabilities of chosen (row, token) pairs under ``softmax(hidden head^T)``, all of the vocabulary counted.

    The logits are float32, and would be by far the largest tensor of a step. So a slab of the vocabulary is multiplied
    at a time, and of each row its greatest logit, the sum of the exponentials over it and, for the gradient, the head's
    rows weighted by them are carried on (the online softmax of arXiv 1805.02867). What is kept is
    ``sum_v p_v head_v`` [m, width]: with the heads of the pairs' own tokens it is all that the gradient takes.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        head: Weight,
        rows: torch.Tensor,
        tokens: torch.Tensor,
        dtype: torch.dtype,
        cap: float,
        compiled: Compiled | None,
    ) -> Any:
        """hidden [m, width], head [vocabulary, width], rows and tokens [pairs] -> float32 [pairs]."""
        taught = ctx.needs_input_grad[0]
        highest = hidden.new_full((hidden.shape[0], 1), -torch.inf)
        total, shrunk = torch.zeros_like(highest), torch.zeros_like(highest)
        drawn = torch.zeros_like(hidden) if taught else None
        found = hidden.new_empty(len(tokens))
        in_turn, order = torch.sort(tokens)
        rounded = hidden.to(dtype)
        for place, slab in head.slabs():
            logits = capped(logits_of(hidden, rounded, slab, compiled), cap)
            begin, end = torch.searchsorted(in_turn, torch.tensor((place.start, place.stop))).tolist()
            pairs = order[begin:end]
            found[pairs] = logits[rows[pairs], tokens[pairs] - place.start]
            spread = spread_of(compiled, logits, cap, highest, total, shrunk, dtype)
            if drawn is not None:
                product = spread @ slab.to(dtype)
                if compiled:
                    compiled("draw", drawn, shrunk, product, *drawn.shape)
                else:
                    drawn.mul_(shrunk).add_(product)
        if drawn is not None:
            ctx.save_for_backward(drawn.div_(total), rows, tokens, _slope(found, cap) if cap else None)
            ctx.head = head
        return found - highest.add_(total.log_()).squeeze(1).index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        """Gradient for hidden."""
        drawn, rows, tokens, slope = ctx.saved_tensors
        weight = grad.new_zeros(drawn.shape[0]).index_add_(0, rows, grad)
        out = drawn * weight.neg_().unsqueeze(1)
        own = grad if slope is None else grad * slope
        # In one order, so that it is the same to the bit each time: index_put_ adds many pairs in any order.
        for some in torch.arange(len(tokens)).split(max(1, SLAB // out.shape[1])):
            out.index_add_(0, rows[some], ctx.head.rows(tokens[some]).mul_(own[some].unsqueeze(1)))
        return out, *(None,) * 6


def all_logits(
    hidden: torch.Tensor, head: Weight, vocabulary: int, dtype: torch.dtype, cap: float, compiled: Compiled | None
) -> torch.Tensor:
    """The logits of which TargetLogProbs keeps none: float32 [m, vocabulary]."""
    rounded = hidden.to(dtype)
    out = hidden.new_empty(len(hidden), vocabulary)
    for place, slab in head.slabs():
        out[:, place] = capped(logits_of(hidden, rounded, slab, compiled), cap)
    return out


def logits_of(
    hidden: torch.Tensor, rounded: torch.Tensor, slab: torch.Tensor, compiled: Compiled | None
) -> torch.Tensor:
    """``hidden slab^T``, float32 [m, tokens]; of factors that are rounded to the format of the products where that
    rounds no sum.
    """
    if compiled is None or "logits" not in compiled or hidden.shape[1] % 2:
        return hidden @ slab.t()
    logits = hidden.new_empty(len(hidden), len(slab))
    compiled("logits", rounded, slab, *logits.shape, hidden.shape[1], logits)
    return logits


def spread_of(
    compiled: Compiled | None,
    logits: torch.Tensor,
    cap: float,
    highest: torch.Tensor,
    total: torch.Tensor,
    shrunk: torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    """How much the tokens of a slab weigh over the highest logit up to it, times their logits' slope: [m, tokens].

    Carries ``highest`` and ``total`` [m, 1] on; ``shrunk`` is then what all that was found before is to be multiplied
    by.
    """
    if compiled:
        spread = torch.empty_like(logits, dtype=dtype)
        compiled("spread", logits, cap, *logits.shape, highest, total, shrunk, spread)
        return spread
    slope = _slope(logits, cap) if cap else None
    top = torch.maximum(highest, logits.amax(dim=-1, keepdim=True))
    torch.sub(highest, top, out=shrunk).exp_()
    highest.copy_(top)
    spread = logits.sub_(highest).exp_()
    total.mul_(shrunk).add_(spread.sum(dim=-1, keepdim=True))
    return (spread if slope is None else spread.mul_(slope)).to(dtype)


def capped(logits: torch.Tensor, cap: float) -> torch.Tensor:
    """``cap * tanh(logits / cap)`` in place (arXiv 2408.00118, 2); the logits themselves where ``cap`` is 0."""
    return logits.div_(cap).tanh_().mul_(cap) if cap else logits


def _slope(logits: torch.Tensor, cap: float) -> torch.Tensor:
    """How much logits that are bent to stay below ``cap`` move with what they were."""
    return 1.0 - (logits / cap).square_()
