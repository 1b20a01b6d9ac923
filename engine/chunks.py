"""Reading a text into a cache in pieces, for serving's measures and for training's evaluation alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from engine.native import Context

SMALLEST_CHUNK = 2


def chunk_bounds(count: int, chunk: int) -> list[tuple[int, int]]:
    """(begin, end) of chunks that cover ``count`` tokens, none of a single token where there are two.

    A token computed alone differs in rounding from one computed with others, so the cut between chunks may not
    leave one over.
    """
    bounds, begin = [], 0
    while begin < count:
        left = count - begin
        take = left if left <= chunk else min(chunk, max(left - SMALLEST_CHUNK, 1))
        bounds.append((begin, begin + take))
        begin += take
    return bounds


def logits_by_chunk(
    context: Context, tokens: Sequence[int], first: int, chunk: int
) -> Iterator[list[tuple[int, npt.NDArray[np.float32]]]]:
    """Read ``tokens`` into an empty cache; after each chunk, (place, logits) of its tokens from ``first`` on.

    The logits (vocab,) are views that are valid until the next chunk is read. Raises EngineFailed.
    """
    for begin, end in chunk_bounds(len(tokens), chunk):
        context.decode([(tokens[place], place, 0, place >= first) for place in range(begin, end)])
        yield [(place, context.logits(place - begin)) for place in range(max(begin, first), end)]
