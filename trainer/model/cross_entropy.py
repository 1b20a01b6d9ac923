"""What all weights learn of the tokens that follow, some tokens at a time, so that no logits are ever kept.

The gradient is made where the logits are, in the same pass: a token's logits are multiplied once, and of the softmax
nothing is written down but how much each token of the vocabulary weighs over the likeliest (as arXiv 2410.10989 does it
on cards).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from trainer.model.compiled import Compiled
from trainer.model.log_probs import logits_of, spread_of
from trainer.model.trained import Trained

# Logits that are there at once: enough rows for the head's gradient to be a large product, few enough to stay near.
LOGITS, LEAST_ROWS = 1 << 21, 256


@dataclass(frozen=True)
class Cost:
    """Of some tokens together: ``nats`` that they cost, and ``squares`` of the softmax's log sums (the z-loss)."""

    nats: float
    squares: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.nats + other.nats, self.squares + other.squares)


@dataclass(frozen=True)
class LearnedBy:
    """The loss is ``factor * (nats + z_loss * squares)``; products are in ``dtype``."""

    factor: float
    z_loss: float
    dtype: torch.dtype
    compiled: Compiled | None


NOTHING = Cost(0.0, 0.0)


def cost_of(
    hidden: torch.Tensor, head: Trained, targets: torch.Tensor, dtype: torch.dtype, compiled: Compiled | None
) -> Cost:
    """What ``targets`` [t] cost after the states ``hidden`` [t, width]."""
    cost = NOTHING
    for place in _pieces(hidden, head):
        logits = _logits(hidden[place], head, dtype, compiled)
        total = torch.logsumexp(logits, dim=-1, keepdim=True)
        cost += _cost(total, logits.gather(1, targets[place].unsqueeze(1)))
    return cost


def learn_targets(
    hidden: torch.Tensor, head: Trained, targets: torch.Tensor, by: LearnedBy
) -> tuple[Cost, torch.Tensor]:
    """The cost, and the gradient for ``hidden`` of the loss that ``by`` describes; ``head`` takes its own in.

    hidden float32 [t, width], targets [t] -> float32 [t, width]. The z-loss (arXiv 2204.02311, 5) keeps the softmax's
    sum near 1.
    """
    to_hidden = torch.empty_like(hidden)
    weight = head.parameter.detach()
    cost = NOTHING
    for place in _pieces(hidden, head):
        some, wanted = hidden[place], targets[place]
        logits = _logits(some, head, by.dtype, by.compiled)
        own = logits.gather(1, wanted.unsqueeze(1))
        highest = hidden.new_full((len(some), 1), -torch.inf)
        weighed, shrunk = torch.zeros_like(highest), torch.empty_like(highest)
        spread = spread_of(by.compiled, logits, 0.0, highest, weighed, shrunk, by.dtype)
        total = highest + weighed.log()
        cost += _cost(total, own)
        # Of a logit l_v: p_v (1 + 2 z log sum) less one at the target. Both products take the softmax as it was spread
        # out; what it is divided by goes into the narrow side.
        pull = (1.0 + 2.0 * by.z_loss * total).div_(weighed).mul_(by.factor)
        found = (spread @ head.numbers(by.dtype)).float().mul_(pull)
        to_hidden[place] = found.sub_(weight.index_select(0, wanted), alpha=by.factor)
        head.learn(spread, (some * pull).to(by.dtype))
        head.learn_rows(wanted, some * -by.factor)
    return cost, to_hidden


def _pieces(hidden: torch.Tensor, head: Trained) -> Iterator[slice]:
    rows = max(LEAST_ROWS, LOGITS // head.parameter.shape[0])
    for first in range(0, len(hidden), rows):
        yield slice(first, min(first + rows, len(hidden)))


def _logits(hidden: torch.Tensor, head: Trained, dtype: torch.dtype, compiled: Compiled | None) -> torch.Tensor:
    """float32 [rows, vocabulary]."""
    rounded = hidden.to(dtype)
    if compiled is None and dtype != torch.float32:
        return (rounded @ head.numbers(dtype).t()).float()
    return logits_of(hidden, rounded, head.parameter.detach(), compiled)


def _cost(total: torch.Tensor, own: torch.Tensor) -> Cost:
    nats = (total - own).sum(dtype=torch.float64)
    return Cost(float(nats), float(total.square().sum(dtype=torch.float64)))
