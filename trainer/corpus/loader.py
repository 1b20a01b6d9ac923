"""Batches of tokens in an order that a seed decides, from any place of it on.

All tokens of a split are one row, in which the end token divides the documents. Each epoch cuts the row anew into
windows, from a beginning of its own on, and takes the windows in an order of its own. A place in that order is a
number, so that nothing has to be kept in memory, and a training that goes on gets exactly the batches that it would
have had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from trainer.corpus.errors import CorpusChanged, CorpusTooSmall
from trainer.corpus.index import Split
from trainer.corpus.shuffled import Shuffled, keyed


class Tokens(Protocol):
    """A row of token ids. ``digest``: what tells it from every other one."""

    split: Split
    total: int
    digest: str

    def read(self, start: int, count: int) -> npt.NDArray[Any]:
        """``count`` ids from place ``start`` on."""
        ...


class Loader(Protocol):
    """What a pretraining knows of its text."""

    @property
    def epoch(self) -> int:
        """How often the whole text has been gone through."""
        ...

    def next_batch(self, sequences: int, length: int) -> npt.NDArray[np.int64]:
        """This process's rows of the next batch of ``sequences``: shape [rows, length + 1]. Raises CorpusTooSmall."""
        ...

    def check(self, sequences: int, length: int) -> None:
        """Raises CorpusTooSmall where the text has not one such batch."""
        ...

    def state(self) -> dict[str, Any]:
        """Where it is, as JSON: the same in all processes that share the batches."""
        ...

    def take_up(self, state: Mapping[str, Any]) -> None:
        """Go on from there. Raises CorpusChanged where it is not of this text or this seed."""
        ...

    def for_place(self, rank: int, size: int) -> Self:
        """A loader for the process ``rank`` of ``size``, from where this one is on."""
        ...


class TokenLoader:
    """The loader of ``tokens``: windows of ``length`` + 1, of which the last token is the next one's first.

    All processes go through the same batches, each with its own rows, in their order: what ``size`` processes get
    together is what one would get.
    """

    def __init__(self, tokens: Tokens, seed: int, rank: int = 0, size: int = 1) -> None:
        self._tokens, self._seed = tokens, seed
        self._rank, self._size = rank, size
        self._epoch = 0
        self._position = 0  # in this epoch, in tokens

    @property
    def epoch(self) -> int:
        """How often the whole text has been gone through."""
        return self._epoch

    def for_place(self, rank: int, size: int) -> Self:
        """A loader for the process ``rank`` of ``size``, from where this one is on."""
        other = type(self)(self._tokens, self._seed, rank, size)
        other.take_up(self.state())
        return other

    def check(self, sequences: int, length: int) -> None:
        """Raises CorpusTooSmall where the text has not one batch of so many sequences."""
        needed = sequences * length + 1
        if self._tokens.total < needed:
            raise CorpusTooSmall(split=self._tokens.split, tokens=self._tokens.total, needed=needed)

    def next_batch(self, sequences: int, length: int) -> npt.NDArray[np.int64]:
        """This process's rows of the next batch of ``sequences``: shape [rows, length + 1]. Raises CorpusTooSmall."""
        self.check(sequences, length)
        starts = self._starts(sequences, length)
        mine = starts[sequences * self._rank // self._size : sequences * (self._rank + 1) // self._size]
        batch = np.empty((len(mine), length + 1), dtype=np.int64)
        for row, start in zip(batch, mine, strict=True):
            row[:] = self._tokens.read(start, length + 1)
        return batch

    def state(self) -> dict[str, Any]:
        """Where it is, as JSON: the same in all processes that share the batches."""
        return {
            "text": self._tokens.digest,
            "seed": self._seed,
            "epoch": self._epoch,
            "position": self._position,
        }

    def take_up(self, state: Mapping[str, Any]) -> None:
        """Go on from there. Raises CorpusChanged where it is not of this text or this seed."""
        for name, own in (("text", self._tokens.digest), ("seed", self._seed)):
            if state[name] != own:
                raise CorpusChanged(expected=state[name], found=own)
        self._epoch, self._position = int(state["epoch"]), int(state["position"])

    def _starts(self, sequences: int, length: int) -> list[int]:
        """Where the next ``sequences`` windows begin in the row; the place is behind them then."""
        starts: list[int] = []
        while len(starts) < sequences:
            windows = (self._tokens.total - 1) // length
            # What is left over of the row is left out at another end each time.
            spare = (self._tokens.total - 1) % length
            offset = keyed(self._seed, self._epoch, "offset") % (spare + 1)
            # After another length, from the next whole window on.
            first = -(-self._position // length)
            last = min(windows, first + sequences - len(starts))
            if first < last:
                order = Shuffled(windows, keyed(self._seed, self._epoch, "order"))
                starts += [offset + int(window) * length for window in order.at(np.arange(first, last))]
            self._position = last * length
            if last >= windows:
                self._epoch, self._position = self._epoch + 1, 0
        return starts
