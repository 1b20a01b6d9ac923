"""The frozen matrices of the base: as numbers in memory, or in the file's quantised blocks until they are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.dequantise import dequantise
from engine.gguf_reader import BLOCKS
from trainer.model.weight import Weight

# Weights that are dequantised at once: enough to make the loop around it cheap, few enough to stay in the cache.
SLAB = 1 << 20


class Frozen:
    """A matrix that is multiplied by and never changed."""

    def learn(self, grad: torch.Tensor, x: torch.Tensor, gain: torch.Tensor | None = None) -> None:
        """Nothing, as ``Weight`` lets it."""


@dataclass(frozen=True)
class Dense(Frozen):
    """All of it as numbers."""

    weight: torch.Tensor

    def times(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.to(x.dtype).t()

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        return grad @ self.weight.to(grad.dtype)

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        return self.weight.index_select(0, index).float()

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        step = max(1, SLAB // self.weight.shape[1])
        for first in range(0, len(self.weight), step):
            some = self.weight[first : first + step].float()
            yield slice(first, first + len(some)), some


@dataclass(frozen=True)
class Part:
    """Some rows of a matrix as a file has them: ``raw`` [rows, bytes]; ``order``: which of them is row i, if not i."""

    raw: NDArray[np.uint8]
    kind: int
    order: NDArray[np.int64] | None = None

    @property
    def columns(self) -> int:
        weights, size = BLOCKS[self.kind]
        row: int = self.raw.shape[1]
        return row // size * weights

    def bytes_of(self, rows: slice | NDArray[np.int64]) -> NDArray[np.uint8]:
        """These rows, as the file has them: [n, bytes]."""
        return self.raw[rows if self.order is None else self.order[rows]]


class Bench:
    """Room for one slab in each dtype, used by all matrices in turn, by one thread at a time."""

    def __init__(self) -> None:
        self._rooms: dict[torch.dtype, torch.Tensor] = {}

    def room(self, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
        """[rows, columns], until it is asked for again."""
        held = self._rooms.get(dtype)
        if held is None or held.numel() < rows * columns:
            held = self._rooms[dtype] = torch.empty(max(SLAB, rows * columns), dtype=dtype)
        return held[: rows * columns].view(rows, columns)


@dataclass(frozen=True)
class Changed(Frozen):
    """A matrix and what adapters that are not trained any more add to it: ``weight + b a``.

    ``a`` [rank, in] and ``b`` [out, rank] in the dtype that the base is computed in, with the adapters' strength in b.
    """

    weight: Weight
    a: torch.Tensor
    b: torch.Tensor

    def times(self, x: torch.Tensor) -> torch.Tensor:
        return torch.addmm(self.weight.times(x), x @ self.a.t(), self.b.t())

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        return torch.addmm(self.weight.back(grad), grad @ self.b, self.a)

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        return self.weight.rows(index) + (self.b[index] @ self.a).float()

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        for rows, slab in self.weight.slabs():
            yield rows, slab + (self.b[rows] @ self.a).float()


class Blocks(Frozen):
    """One or more parts, one below the other, that stay as they are: a slab at a time is dequantised as it is used."""

    def __init__(self, parts: Sequence[Part], bench: Bench) -> None:
        self._parts = tuple(parts)
        self._bench = bench
        self._out = sum(len(part.raw) for part in parts)
        self._in = parts[0].columns

    def times(self, x: torch.Tensor) -> torch.Tensor:
        out = x.new_empty(x.shape[0], self._out)
        for rows, slab in self._slabs(x.dtype):
            out[:, rows] = x @ slab.t()
        return out

    def back(self, grad: torch.Tensor) -> torch.Tensor:
        # In float32: a sum of slabs that is rounded to bfloat16 after each would lose what each adds.
        out = grad.new_zeros(grad.shape[0], self._in, dtype=torch.float32)
        for rows, slab in self._slabs(grad.dtype):
            out += grad[:, rows] @ slab
        return out.to(grad.dtype)

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        (part,) = self._parts
        found = np.empty((len(index), self._in), dtype=np.float32)
        dequantise(part.bytes_of(index.numpy()), part.kind, found)
        return torch.from_numpy(found)

    def dense(self, dtype: torch.dtype) -> Dense:
        """All of it as numbers."""
        whole = torch.empty(self._out, self._in, dtype=dtype)
        for rows, slab in self.slabs():
            whole[rows] = slab
        return Dense(whole)

    def slabs(self) -> Iterator[tuple[slice, torch.Tensor]]:
        return self._slabs(torch.float32)

    def _slabs(self, dtype: torch.dtype) -> Iterator[tuple[slice, torch.Tensor]]:
        """Which rows, and these as numbers, in order."""
        step = max(1, SLAB // self._in)
        above = 0
        for part in self._parts:
            for first in range(0, len(part.raw), step):
                raw = part.bytes_of(slice(first, first + step))
                slab = self._bench.room(len(raw), self._in, torch.float32)
                dequantise(raw, part.kind, slab.numpy())
                if dtype != torch.float32:
                    slab = self._bench.room(len(raw), self._in, dtype).copy_(slab)
                yield slice(above + first, above + first + len(raw)), slab
            above += len(part.raw)
