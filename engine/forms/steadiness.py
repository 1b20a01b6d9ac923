"""Whether an answer depends on how its prompt was cut into chunks, or on who else is being answered.

Kernels may round a row differently by how many rows they compute at once. With a form of which that is true, the same
question would not have the same answer every time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from configs.sections.engine import EngineSettings
from engine.chunks import SMALLEST_CHUNK, chunk_bounds
from engine.native import Context, Model

Logits = npt.NDArray[np.float32]


def steadiness(model: Model, context: Context, settings: EngineSettings, count: int) -> dict[str, float]:
    """The largest difference of any logit from the usual way, by name; 0 everywhere means: the same to the last bit.

    ``chunks``: prompts cut in every length from the smallest to ``prompt_chunk``, at powers of two and beside them.
    ``beside``: one token of an answer computed with tokens of other answers, up to as many as there are slots.
    """
    tokens = [place * 7919 % model.vocab_size for place in range(count)]
    usual = _read(context, tokens, settings.prompt_chunk)
    chunks = max(_distance(usual, _read(context, tokens, chunk)) for chunk in _cuts(settings.prompt_chunk))
    alone = _beside(context, tokens, settings.prompt_chunk, others=0)
    crowds = (_beside(context, tokens, settings.prompt_chunk, others=others) for others in range(1, settings.slots))
    return {"chunks": chunks, "beside": max((_distance(alone, crowd) for crowd in crowds), default=0.0)}


def _cuts(chunk: int) -> list[int]:
    """Lengths of chunks at which kernels change their ways: small ones, powers of two and their neighbours."""
    powers = [1 << power for power in range(1, chunk.bit_length())]
    near = {size + step for size in powers for step in (-1, 0, 1)} | {chunk - 1}
    return sorted(size for size in near if SMALLEST_CHUNK <= size < chunk)


def _read(context: Context, tokens: Sequence[int], chunk: int) -> Logits:
    """The logits of every token that was read, (tokens, vocabulary)."""
    context.clear()
    rows = []
    for begin, end in chunk_bounds(len(tokens), chunk):
        context.decode([(tokens[place], place, 0, True) for place in range(begin, end)])
        rows += [context.logits(row).copy() for row in range(end - begin)]
    return np.array(rows)


def _beside(context: Context, tokens: Sequence[int], chunk: int, *, others: int) -> Logits:
    """The logits of tokens that are written one by one in sequence 0, ``others`` writing theirs in the same batches."""
    context.clear()
    half = len(tokens) // 2
    for sequence in range(others + 1):
        # Each sequence has a text of its own: the same tokens, begun elsewhere.
        turned = _turned(tokens, sequence)
        for begin, end in chunk_bounds(half, chunk):
            context.decode([(turned[place], place, sequence, False) for place in range(begin, end)])
    rows = []
    for place in range(half, len(tokens)):
        context.decode([(_turned(tokens, each)[place], place, each, True) for each in range(others + 1)])
        rows.append(context.logits(0).copy())
    return np.array(rows)


def _turned(tokens: Sequence[int], by: int) -> Sequence[int]:
    return [*tokens[by:], *tokens[:by]]


def _distance(one: Logits, other: Logits) -> float:
    return float(np.abs(one - other).max())
