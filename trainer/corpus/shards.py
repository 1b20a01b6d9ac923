"""Shards: files of token ids that are mapped, not read, so that a corpus of any size takes no memory."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainer.corpus.errors import ShardsBroken
from trainer.corpus.index import Index, Shard, Split, read_index

_BLOCK = 1 << 22  # bytes that are hashed at a time


class ShardTokens:
    """All tokens of one split, one shard behind the other.

    Raises ShardsMissing, and ShardsBroken for a shard that is not, to the byte, what its index says.
    """

    def __init__(self, folder: Path, split: Split) -> None:
        self.index = read_index(folder)
        self.split = split
        shards = self.index.splits[split].shards
        for shard in shards:
            _check(folder / shard.file, shard, self.index)
        self._maps = [np.memmap(folder / shard.file, dtype=self.index.dtype, mode="r") for shard in shards]
        self._ends = list(accumulate(shard.tokens for shard in shards))
        self.total = self._ends[-1] if shards else 0
        told = "".join([self.index.tokenizer, *(shard.sha256 for shard in shards)])
        self.digest = hashlib.sha256(told.encode()).hexdigest()

    def read(self, start: int, count: int) -> npt.NDArray[Any]:
        """``count`` ids from place ``start`` on; all must be within ``total``."""
        pieces, number = [], bisect_right(self._ends, start)
        while count:
            begins = self._ends[number] - len(self._maps[number])
            piece = self._maps[number][start - begins : start - begins + count]
            pieces.append(piece)
            start, count, number = start + len(piece), count - len(piece), number + 1
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _check(path: Path, shard: Shard, index: Index) -> None:
    """Raises ShardsBroken."""
    digest, size, largest = hashlib.sha256(), 0, 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
                whole = block[: len(block) - len(block) % index.dtype.itemsize]
                largest = max(largest, int(np.frombuffer(whole, dtype=index.dtype).max(initial=0)))
    except OSError as error:
        raise ShardsBroken(path=str(path), reason=error.strerror or str(error)) from error
    if size < shard.tokens * index.dtype.itemsize:
        raise ShardsBroken(path=str(path), reason="it is cut short")
    if size > shard.tokens * index.dtype.itemsize:
        raise ShardsBroken(path=str(path), reason="it is longer than its index says")
    if digest.hexdigest() != shard.sha256:
        raise ShardsBroken(path=str(path), reason="its bytes are not those that were written")
    if largest >= index.vocabulary:
        raise ShardsBroken(path=str(path), reason="it has tokens that its vocabulary has not")
