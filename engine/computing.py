"""One token of every answer in one batch; what native code refuses is laid on the answer whose fault it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.errors import EngineFailed
from engine.native import Context


def next_tokens(context: Context, batch: Sequence[tuple[int, int, int]]) -> Iterator[int | EngineFailed]:
    """Compute a batch of (token, position, sequence), each of another sequence.

    For each of them, in order, the row of its logits, valid until the next one is taken; or what is wrong with it.
    Where the batch is refused, each is computed in one of its own: that takes longer and gives the same logits, and
    only those that are refused alone are lost.
    """
    try:
        context.decode([(*each, True) for each in batch])
    except EngineFailed as error:
        if len(batch) == 1:
            yield error
            return
    else:
        yield from range(len(batch))
        return
    for token, position, sequence in batch:
        # A part of the refused batch may have been computed.
        if context.keep(sequence, position):
            yield from next_tokens(context, [(token, position, sequence)])
        else:
            yield EngineFailed(reason="a batch failed, and this kind of cache cannot go back to before it")
