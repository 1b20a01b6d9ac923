"""A GGUF file's metadata and tensors, read in a fraction of a second: the vocabulary's 10⁵ texts are stepped over.

``gguf.GGUFReader`` makes an array of each of them, which takes most of the time in which a model could be trained
on a lesson. Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; the file was checked by engine.gguf.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from engine.dequantise import dequantise
from engine.gguf import check_gguf
from engine.gguf_reader import ARRAY, DEFAULT_ALIGNMENT, KEPT_LENGTH, SCALARS, SIZES, STRING


@dataclass(frozen=True)
class _Tensor:
    shape: tuple[int, ...]  # outermost first, as numpy has it
    kind: int
    offset: int


class GGUFFile:
    """``metadata``: scalars, texts, and short arrays of numbers by key; ``entries``: all of it as the file has it.

    Raises ModelBroken.
    """

    def __init__(self, path: Path) -> None:
        check_gguf(path)
        self.path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._map)
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._view, dtype=np.uint8)
        self._place = 8
        tensors, entries = self._unpack("<QQ")
        self.metadata: dict[str, Any] = {}
        begun = self._place
        for _ in range(entries):
            key, (kind,) = self._string(), self._unpack("<I")
            value = self._value(kind)
            if value is not None:
                self.metadata[key] = value
        self.entries = bytes(self._view[begun : self._place])
        self.entry_count = entries
        self._tensors = dict(self._tensor() for _ in range(tensors))
        self.alignment = int(self.metadata.get("general.alignment", DEFAULT_ALIGNMENT))
        self._start = -(-self._place // self.alignment) * self.alignment

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    @property
    def names(self) -> list[str]:
        """The tensors' names in their order."""
        return list(self._tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape, outermost first. KeyError for a name that is not there."""
        return self._tensors[name].shape

    def kind(self, name: str) -> gguf.GGMLQuantizationType:
        """How a tensor's weights are written. KeyError for a name that is not there."""
        return gguf.GGMLQuantizationType(self._tensors[name].kind)

    def raw(self, name: str) -> NDArray[np.uint8]:
        """A tensor's bytes as they stand in the file, not copied. KeyError for a name that is not there."""
        tensor = self._tensors[name]
        block, size = gguf.GGML_QUANT_SIZES[self.kind(name)]
        start = self._start + tensor.offset
        return self._bytes[start : start + int(np.prod(tensor.shape)) // block * size]

    def array(self, name: str) -> NDArray[np.float32]:
        """A tensor as float32, dequantised, in memory of its own. KeyError for a name that is not there."""
        result = np.empty(self.shape(name), dtype=np.float32)
        dequantise(self.raw(name), self._tensors[name].kind, result)
        return result

    def rows(self, name: str) -> NDArray[np.uint8]:
        """A matrix's bytes, not copied: (rows, bytes of a row). KeyError for a name that is not there."""
        return self.raw(name).reshape(self.shape(name)[0], -1)

    def let_go(self) -> None:
        """Hold none of the file's pages in memory until they are read again, where the system can be asked for that."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _tensor(self) -> tuple[str, _Tensor]:
        name = self._string()
        (dimensions,) = self._unpack("<I")
        *shape, kind, offset = self._unpack(f"<{dimensions}QIQ")
        return name, _Tensor(tuple(reversed(shape)), kind, offset)

    def _value(self, kind: int) -> Any:
        """A scalar, a text or a short array of numbers; None for another array, which is stepped over."""
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._unpack("<" + SCALARS[kind])[0]
        inner, count = self._unpack("<IQ")
        if inner in SIZES and count <= KEPT_LENGTH:
            return self._unpack(f"<{count}{SCALARS[inner]}")
        if inner in SIZES:
            self._place += count * SIZES[inner]
        elif inner == STRING:
            view, place, read = self._view, self._place, int.from_bytes
            for _ in range(count):
                place += 8 + read(view[place : place + 8], "little")
            self._place = place
        else:
            for _ in range(count):
                self._value(inner)
        return None

    def _string(self) -> str:
        (length,) = self._unpack("<Q")
        start = self._place
        self._place += length
        return bytes(self._view[start : self._place]).decode("utf-8", errors="replace")

    def _unpack(self, form: str) -> tuple[Any, ...]:
        start = self._place
        self._place += struct.calcsize(form)
        return struct.unpack_from(form, self._view, start)
