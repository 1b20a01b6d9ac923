"""What one way of serving loses against another: kept log-probabilities, and the distance from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.forms.texts import Piece
from engine.scoring import LocalModel, kl


@dataclass(frozen=True)
class Loss:
    """``kl``: mean KL(reference || other) in nats a token; ``agreement``: how often the likeliest token is the same."""

    kl: float
    agreement: float
    tokens: int


def keep_reference(scorer: LocalModel, pieces: Sequence[Piece], store: Path) -> int:
    """Write the log-probabilities of every measured token to ``store``, one float32 row of the vocabulary each.

    How many rows. Raises OSError and what the scorer raises.
    """
    rows = 0
    with store.open("wb") as file:
        for piece in pieces:
            values = scorer.log_probs(piece.given, piece.measured)
            file.write(values.tobytes())
            rows += len(values)
    return rows


def measure_loss(scorer: LocalModel, pieces: Sequence[Piece], store: Path) -> Loss:
    """How far ``scorer`` is from what ``keep_reference`` wrote of the same pieces. Raises what the scorer raises."""
    total, same, rows = 0.0, 0, 0
    known = np.memmap(store, dtype=np.float32, mode="r").reshape(-1, scorer.vocabulary.size)
    for piece in pieces:
        wanted = np.array(known[rows : rows + len(piece.measured)])
        got = scorer.log_probs(piece.given, piece.measured)
        total += kl(wanted, got)
        same += int((wanted.argmax(axis=1) == got.argmax(axis=1)).sum())
        rows += len(got)
    return Loss(total / rows, same / rows, rows)
