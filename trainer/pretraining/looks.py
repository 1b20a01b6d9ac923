"""Looks at a model while it is trained: what unseen text costs it a byte, and what it writes by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from trainer.corpus.loader import Loader
from trainer.model.sequences import sequences_of
from trainer.pretraining.training import Training


class Text(Protocol):
    """The tokenizer of a run (``trainer.tokenizer``)."""

    @property
    def end(self) -> int:
        """The token that ends each document."""

    @property
    def byte_lengths(self) -> NDArray[np.int64]:
        """How many bytes of text each token stands for: [vocabulary]."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each."""

    def decode(self, ids: Sequence[int]) -> str:
        """Their text."""


@dataclass(frozen=True)
class Validation:
    """Of the same text each time: ``loss`` in nats a token, and ``bits`` a byte, which no tokenizer changes."""

    loss: float
    bits: float


def validate(training: Training, loader: Loader, text: Text) -> Validation:
    """Ask the model for the first tokens of unseen text; ``loader`` is where it was afterwards."""
    plan, context = training.run.train, training.run.model.context
    begun = loader.state()
    rows = loader.next_batch(plan.validation_sequences, context)
    loader.take_up(begun)
    cost = training.cost(rows)
    many = training.together.gathered(int(text.byte_lengths[rows[:, 1:]].sum()))
    tokens = plan.validation_sequences * context
    return Validation(cost.nats / tokens, cost.nats / math.log(2) / sum(many))


def sample(training: Training, text: Text, prompt: str, step: int) -> str:
    """What the model goes on with after ``prompt``; the step and the seed decide how it is drawn.

    Every process that has a share of the weights has to ask at the same time.
    """
    plan, context = training.run.train, training.run.model.context
    generator = torch.Generator().manual_seed(plan.seed + step)
    tokens = [text.end, *text.encode([prompt])[0]][-context + 1 :]
    begun = len(tokens)
    while len(tokens) - begun < plan.sample_tokens:
        logits = next_logits(training, tokens[-context:])
        token = _drawn(logits, plan.sample_temperature, generator)
        if token == text.end:
            break
        tokens.append(token)
    return text.decode(tokens[begun:])


def next_logits(training: Training, tokens: Sequence[int]) -> torch.Tensor:
    """Logits of what follows ``tokens``, float32 [vocabulary], on the processor."""
    # What follows the last one is not looked at.
    numbers = np.array([[*tokens, 0]], dtype=np.int64)
    return training.decoder.last_logits(sequences_of(numbers, training.run.hardware.attention, training.device)).cpu()


def _drawn(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    return int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1, generator=generator))
