"""A structural check of GGUF files in plain Python, made before native code sees them.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import AdapterMismatch, ModelBroken

MAGIC = b"GGUF"
VERSIONS = (2, 3)
SMALLEST_HEADER = 24
DEFAULT_ALIGNMENT = 32
MOST_ENTRIES = 1 << 20
MOST_DIMENSIONS = 4
DEEPEST_ARRAY = 4
FLOAT16_BYTES = 2
STRING, ARRAY = 8, 9
# Value types of fixed size, by their number: struct code.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
SIZES = {kind: struct.calcsize(code) for kind, code in SCALARS.items()}
# ggml_type: (weights in a block, bytes of a block).
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip


@dataclass(frozen=True)
class GGUFSummary:
    """What the header of a GGUF file says. ``context_length`` 0 and empty texts where it says nothing.

    ``cache_bytes_per_token``: bytes of a float16 KV cache for one token of one sequence.
    """

    path: Path
    file_size: int
    architecture: str
    name: str
    kind: str
    context_length: int
    tensor_count: int
    layers: int
    cache_bytes_per_token: int
    has_template: bool
    adapter_alpha: float | None


class _Malformed(Exception):
    """What is wrong with the bytes."""


def check_gguf(path: Path) -> GGUFSummary:
    """The header's summary, every count, length and offset checked against the file. Raises ModelBroken."""
    try:
        # A pipe would be waited for.
        if not stat.S_ISREG(path.stat().st_mode):
            raise _Malformed("not a file")
        with path.open("rb") as file:
            if path.stat().st_size < SMALLEST_HEADER:
                raise _Malformed(f"only {path.stat().st_size} bytes long")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(path, content).summary()
    except OSError as error:
        raise ModelBroken(path=str(path), reason=error.strerror or str(error)) from error
    except (_Malformed, struct.error) as error:
        raise ModelBroken(path=str(path), reason=str(error)) from error


def check_adapter(path: Path, model: Path) -> GGUFSummary:
    """The summary of a LoRA adapter that may be applied to ``model``. Raises AdapterMismatch."""
    try:
        summary = check_gguf(path)
    except ModelBroken as error:
        raise AdapterMismatch(path=str(path), reason=str(error.facts["reason"])) from error
    if summary.kind != "adapter":
        raise AdapterMismatch(path=str(path), reason="not an adapter")
    if not summary.adapter_alpha:
        raise AdapterMismatch(path=str(path), reason="adapter.lora.alpha is missing")
    architecture = check_gguf(model).architecture
    if summary.architecture != architecture:
        raise AdapterMismatch(path=str(path), reason=f"made for {summary.architecture}, the model is {architecture}")
    return summary


class _Reader:
    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self._path = path
        self._content = content
        self._size = len(content)
        self._place = 0

    def summary(self) -> GGUFSummary:
        if self._content[:4] != MAGIC:
            raise _Malformed("not a GGUF file")
        self._place = 4
        version, tensors, entries = self._unpack("<IQQ")
        if version not in VERSIONS:
            raise _Malformed(f"GGUF version {version} is not known")
        if tensors > MOST_ENTRIES or entries > MOST_ENTRIES:
            raise _Malformed(f"{tensors} tensors and {entries} metadata entries cannot be")
        meta = dict(self._entry() for _ in range(entries))
        alignment = meta.get("general.alignment", DEFAULT_ALIGNMENT)
        if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
            raise _Malformed(f"an alignment of {alignment}")
        ends = [self._tensor_end(alignment) for _ in range(tensors)]
        start = -(-self._place // alignment) * alignment
        if ends and start + max(ends) > self._size:
            raise _Malformed(f"truncated: {self._size} bytes of {start + max(ends)}")
        return self._summarise(meta, tensors)

    def _summarise(self, meta: dict[str, Any], tensors: int) -> GGUFSummary:
        architecture = meta.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise _Malformed("it names no architecture")
        kind = meta.get("general.type", "model")
        if kind == "model" and not tensors:
            raise _Malformed("it holds no weights")

        def number(key: str, otherwise: int = 0) -> int:
            value = meta.get(f"{architecture}.{key}", otherwise)
            return value if isinstance(value, int) else otherwise

        heads = max(1, number("attention.head_count", 1))
        width = number("embedding_length") // heads
        keys, values = number("attention.key_length", width), number("attention.value_length", width)
        per_layer = number("attention.head_count_kv", heads) * (keys + values) * FLOAT16_BYTES
        alpha = meta.get("adapter.lora.alpha")
        return GGUFSummary(
            path=self._path,
            file_size=self._size,
            architecture=architecture,
            name=str(meta.get("general.name", "")),
            kind=str(kind),
            context_length=number("context_length"),
            tensor_count=tensors,
            layers=number("block_count"),
            cache_bytes_per_token=number("block_count") * per_layer,
            has_template=bool(meta.get("tokenizer.chat_template")),
            adapter_alpha=float(alpha) if isinstance(alpha, int | float) else None,
        )

    def _entry(self) -> tuple[str, Any]:
        key = self._string()
        (kind,) = self._unpack("<I")
        return key, self._value(kind, 0)

    def _value(self, kind: int, depth: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind in SCALARS:
            return self._unpack("<" + SCALARS[kind])[0]
        if kind != ARRAY or depth >= DEEPEST_ARRAY:
            raise _Malformed(f"a value of the unknown type {kind}")
        inner, count = self._unpack("<IQ")
        if inner in SIZES:
            self._skip(count * SIZES[inner])
        elif inner == STRING:
            self._skip_strings(count)
        else:
            for _ in range(self._bounded(count)):
                self._value(inner, depth + 1)
        return None

    def _tensor_end(self, alignment: int) -> int:
        """Where a tensor's data ends, counted from the start of all data."""
        name = self._string()
        (dimensions,) = self._unpack("<I")
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise _Malformed(f"{name} has {dimensions} dimensions")
        *shape, kind, offset = self._unpack(f"<{dimensions}QIQ")
        if kind not in BLOCKS:
            raise _Malformed(f"{name} has the unknown type {kind}")
        weights, size = BLOCKS[kind]
        count = 1
        for length in shape:
            count *= length
        if not shape[0] or shape[0] % weights or offset % alignment:
            raise _Malformed(f"{name} is not laid out in whole blocks")
        return int(offset + count // weights * size)

    def _string(self) -> str:
        (length,) = self._unpack("<Q")
        start = self._place
        self._skip(length)
        return self._content[start : self._place].decode("utf-8", errors="replace")

    def _skip_strings(self, count: int) -> None:
        """Step over an array of strings; vocabularies have 10⁵ of them, so this loop is kept bare."""
        content, place, size, read = self._content, self._place, self._size, int.from_bytes
        for _ in range(self._bounded(count)):
            place += 8 + read(content[place : place + 8], "little")
            if place > size:
                raise _Malformed("truncated within its metadata")
        self._place = place

    def _bounded(self, count: int) -> int:
        if count > self._size - self._place:
            raise _Malformed(f"an array of {count} values is longer than the file")
        return count

    def _skip(self, count: int) -> None:
        self._place += count
        if self._place > self._size:
            raise _Malformed("truncated within its metadata")

    def _unpack(self, form: str) -> tuple[Any, ...]:
        start = self._place
        self._skip(struct.calcsize(form))
        return struct.unpack_from(form, self._content, start)
