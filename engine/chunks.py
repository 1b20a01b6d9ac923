"""Reading a text into a cache in pieces, for answers, for measures of texts and for training's evaluation alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from configs.sections.engine import EngineSettings
    from engine.native import Context

# Rounding differs between a token computed alone and tokens computed together, so a prompt never ends in a
# chunk of one: its answer would depend on what the cache happened to hold.
SMALLEST_CHUNK = 2


def largest_batch(settings: EngineSettings) -> int:
    """Room for every kind of batch: a token of every answer, a guess, a chunk of a prompt."""
    chunks = settings.prompt_chunk, settings.shared_prompt_chunk, settings.long_prompt_chunk
    return max(settings.batch_size, settings.slots, 1 + settings.lookup_tokens, *chunks)


def chunk_bounds(count: int, chunk: int) -> list[tuple[int, int]]:
    """(begin, end) of chunks that cover ``count`` tokens, none of a single token where there are two."""
    bounds, begin = [], 0
    while begin < count:
        end = begin + chunk_length(count - begin, chunk)
        bounds.append((begin, end))
        begin = end
    return bounds


def chunk_length(left: int, longest: int) -> int:
    """How many of ``left`` tokens to read next, at most ``longest``, so that none is left over alone."""
    return left if left <= longest else min(longest, max(left - SMALLEST_CHUNK, 1))


def logits_by_chunk(
    context: Context, tokens: Sequence[int], first: int, chunk: int, held: int = 0
) -> Iterator[list[tuple[int, npt.NDArray[np.float32]]]]:
    """Read ``tokens`` into the cache; after each chunk, (place, logits) of its tokens from ``first`` on.

    ``held``: how many of them, whole chunks, the cache holds already, and nothing else.
    The logits (vocab,) are views that are valid until the next chunk is read. Raises EngineFailed.
    """
    for begin, end in chunk_bounds(len(tokens), chunk):
        if begin < held:
            continue
        context.decode([(tokens[place], place, 0, place >= first) for place in range(begin, end)])
        yield [(place, context.logits(place - begin)) for place in range(max(begin, first), end)]
