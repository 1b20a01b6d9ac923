"""The header of a GGUF file, read in plain Python with every count, length and offset held against the file.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from typing import Any

MAGIC = b"GGUF"
VERSIONS = (2, 3)
SMALLEST_HEADER = 24
DEFAULT_ALIGNMENT = 32
MOST_ENTRIES = 1 << 20
MOST_DIMENSIONS = 4
MOST_WEIGHTS = (1 << 63) - 1
LONGEST_KEY = 65535
LONGEST_NAME = 63
# Arrays up to this length are kept: one number for each layer. Longer ones are vocabularies and are stepped over.
KEPT_LENGTH = 1024
UINT32, STRING, ARRAY = 4, 8, 9
# Value types of fixed size, by their number: struct code.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
SIZES = {kind: struct.calcsize(code) for kind, code in SCALARS.items()}
# ggml_type: (weights in a block, bytes of a block).
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18), 42: (64, 18),
}  # fmt: skip
TOKENS = "tokenizer.ggml.tokens"


class Malformed(Exception):
    """What is wrong with the bytes."""


@dataclass(frozen=True)
class Array:
    """An array of ``count`` values of the type ``kind``; ``values`` where they are few and plain numbers."""

    kind: int
    count: int
    values: tuple[Any, ...] | None


@dataclass(frozen=True)
class Value:
    """A metadata value and the number of its type."""

    kind: int
    content: Any


@dataclass(frozen=True)
class Tensor:
    """A tensor's shape, its ggml_type, and the bytes from the beginning of all data that it takes."""

    shape: tuple[int, ...]
    kind: int
    start: int
    end: int


@dataclass(frozen=True)
class Vocabulary:
    """The texts of all tokens, of which there are ``count``, ``empty`` of them without a text."""

    texts: frozenset[bytes] = frozenset()
    count: int = 0
    empty: int = 0


@dataclass(frozen=True)
class Contents:
    """All that a header says."""

    meta: dict[str, Value]
    tensors: dict[str, Tensor]
    vocabulary: Vocabulary

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of ``key``, whatever its type."""
        value = self.meta.get(key)
        return otherwise if value is None else value.content


def whole(value: Any) -> tuple[int, ...]:
    """The whole numbers that a metadata value is or has; anything else, llama.cpp refuses by its type."""
    values = (value.values or ()) if isinstance(value, Array) else (value,)
    return tuple(number for number in values if isinstance(number, int))


class Reader:
    """Reads one file. Raises Malformed and struct.error."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._size = len(content)
        self._place = 0
        self._vocabulary = Vocabulary()

    def read(self) -> Contents:
        """The whole header."""
        if self._content[:4] != MAGIC:
            raise Malformed("not a GGUF file")
        self._place = 4
        version, tensor_count, entries = self._unpack("<IQQ")
        if version not in VERSIONS:
            raise Malformed(f"GGUF version {version} is not known")
        if tensor_count > MOST_ENTRIES or entries > MOST_ENTRIES:
            raise Malformed(f"{tensor_count} tensors and {entries} metadata entries cannot be")
        meta: dict[str, Value] = {}
        for _ in range(entries):
            key = self._name(LONGEST_KEY)
            if key in meta:
                raise Malformed(f"the metadata key {key!r:.80} is there twice")
            meta[key] = self._entry(key)
        return Contents(meta, self._tensors(tensor_count, _alignment(meta)), self._vocabulary)

    def _entry(self, key: str) -> Value:
        (kind,) = self._unpack("<I")
        if kind == STRING:
            return Value(kind, self._string().partition("\0")[0])
        if kind in SCALARS:
            return Value(kind, self._unpack("<" + SCALARS[kind])[0])
        if kind != ARRAY:
            raise Malformed(f"{key} has the unknown type {kind}")
        inner, count = self._unpack("<IQ")
        if inner == STRING:
            self._skip_strings(count, keep=key == TOKENS)
            return Value(kind, Array(inner, count, None))
        if inner not in SCALARS:
            raise Malformed(f"{key} has values of the unknown type {inner}")
        start = self._place
        self._skip(count * SIZES[inner])
        few = count <= KEPT_LENGTH
        values = struct.unpack_from(f"<{count}{SCALARS[inner]}", self._content, start) if few else None
        return Value(kind, Array(inner, count, values))

    def _tensors(self, count: int, alignment: int) -> dict[str, Tensor]:
        """Every tensor by its name, one behind the other as llama.cpp wants them."""
        tensors: dict[str, Tensor] = {}
        place = 0
        for _ in range(count):
            name, tensor = self._tensor()
            if name in tensors:
                raise Malformed(f"the tensor {name} is there twice")
            if tensor.start != place:
                raise Malformed(f"{name} is not where the tensor before it ends")
            tensors[name] = tensor
            place = -(-tensor.end // alignment) * alignment
        start = -(-self._place // alignment) * alignment
        last = max((tensor.end for tensor in tensors.values()), default=0)
        if tensors and start + last > self._size:
            raise Malformed(f"truncated: {self._size} bytes of {start + last}")
        return tensors

    def _tensor(self) -> tuple[str, Tensor]:
        name = self._name(LONGEST_NAME)
        (dimensions,) = self._unpack("<I")
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise Malformed(f"{name} has {dimensions} dimensions")
        *shape, kind, offset = self._unpack(f"<{dimensions}QIQ")
        if kind not in BLOCKS:
            raise Malformed(f"{name} has the unknown type {kind}")
        weights, size = BLOCKS[kind]
        count = 1
        for length in shape:
            count *= length
        if not 0 < count <= MOST_WEIGHTS or shape[0] % weights:
            raise Malformed(f"{name} is not laid out in whole blocks")
        return name, Tensor(tuple(shape), kind, int(offset), int(offset + count // weights * size))

    def _name(self, longest: int) -> str:
        """A key or a tensor's name. llama.cpp takes it to end at a NUL, and two could then be one."""
        name = self._string(longest)
        if not name or "\0" in name:
            raise Malformed(f"the impossible name {name!r:.80}")
        return name

    def _string(self, longest: int | None = None) -> str:
        (length,) = self._unpack("<Q")
        if longest is not None and length > longest:
            raise Malformed(f"a name of {length} bytes")
        start = self._place
        self._skip(length)
        return self._content[start : self._place].decode("utf-8", errors="replace")

    def _skip_strings(self, count: int, *, keep: bool) -> None:
        """Step over an array of strings; vocabularies have 10⁵ of them, so this loop is kept bare."""
        content, place, size, length_at = self._content, self._place, self._size, struct.Struct("<Q").unpack_from
        if count > size - place:
            raise Malformed(f"an array of {count} values is longer than the file")
        texts, empty = set(), 0
        for _ in range(count):
            start = place + 8
            place = start + length_at(content, place)[0]
            if place > size:
                raise Malformed("truncated within its metadata")
            if keep:
                if place == start:
                    empty += 1
                else:
                    texts.add(content[start:place])
        if keep:
            # llama.cpp takes a text to end at its first NUL.
            cut = {text for text in texts if b"\0" in text}
            ends = [text.partition(b"\0")[0] for text in cut]
            texts = (texts - cut) | {text for text in ends if text}
            self._vocabulary = Vocabulary(frozenset(texts), count, empty + ends.count(b""))
        self._place = place

    def _skip(self, count: int) -> None:
        self._place += count
        if self._place > self._size:
            raise Malformed("truncated within its metadata")

    def _unpack(self, form: str) -> tuple[Any, ...]:
        start = self._place
        self._skip(struct.calcsize(form))
        return struct.unpack_from(form, self._content, start)


def _alignment(meta: dict[str, Value]) -> int:
    value = meta.get("general.alignment")
    if value is None:
        return DEFAULT_ALIGNMENT
    alignment = value.content
    if value.kind != UINT32 or alignment <= 0 or alignment & (alignment - 1):
        raise Malformed(f"an alignment of {alignment}")
    return int(alignment)
