"""Adapters merged into a model's weights: a whole GGUF that computes what the file and its adapters did."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import gguf
import numpy as np
from gguf.quants import quantize
from numpy.typing import NDArray

from configs.disk import put_in_place
from trainer.model.changes import Change, read_changes
from trainer.model.gguf_file import GGUFFile

Kind = gguf.GGMLQuantizationType
MAGIC, VERSION = b"GGUF", 3
# Rows that are worked on at once: enough to make the loop around them cheap, few enough to take little memory.
ROWS = 4096
FILE_TYPE = b"general.file_type"
UINT32 = 4  # gguf_metadata_value_type
# llama_ftype of a file whose weights are mostly of one kind.
FILE_TYPES = {Kind.F16: 1, Kind.Q4_0: 2, Kind.Q4_1: 3, Kind.Q8_0: 7, Kind.Q5_0: 8, Kind.Q5_1: 9}


@dataclass(frozen=True)
class _Plan:
    """How one tensor is written: as it stands in ``source``, or, where it is None, changed and written as ``kind``."""

    name: str
    shape: tuple[int, ...]
    kind: gguf.GGMLQuantizationType
    source: GGUFFile | None

    @property
    def size(self) -> int:
        block, size = gguf.GGML_QUANT_SIZES[self.kind]
        return int(np.prod(self.shape)) // block * size


def merge(
    original: Path,
    others: Path,
    adapters: Sequence[tuple[Path, float]],
    target: Path,
    weight_type: str,
    pause: Callable[[], None] = lambda: None,
) -> None:
    """Write to ``target`` the weights of ``original`` with ``adapters`` (file, scale) in them, whole or not at all.

    What an adapter changes is dequantised from ``original``, the file that it was trained on, changed, and written
    as ``weight_type``; everything else is taken as it stands from ``others``, the form in which the model is served.
    A change is scale * alpha / rank * B @ A, as llama.cpp applies it; for the ``llama`` architecture the rows of
    B already are in the file's order (``trainer.model.adapter_file``). ``pause`` is called before each tensor.

    Raises NotMergeable, ModelBroken and OSError.
    """
    base, form = GGUFFile(original), GGUFFile(others)
    changes = read_changes(adapters, base)
    kind = getattr(Kind, weight_type.upper())
    plans = [_plan(name, base, form, name in changes, kind) for name in base.names]
    with (
        put_in_place(target, alone=True) as aside,
        open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
    ):
        _write_head(file, base, plans, kind)
        for plan in plans:
            pause()
            written = 0
            for piece in _pieces(plan, base, changes.get(plan.name, [])):
                file.write(piece.tobytes())
                written += piece.nbytes
            file.write(bytes(-written % base.alignment))


def _plan(name: str, base: GGUFFile, form: GGUFFile, changed: bool, kind: gguf.GGMLQuantizationType) -> _Plan:
    if not changed:
        source = form if name in form else base
        return _Plan(name, source.shape(name), source.kind(name), source)
    block, _ = gguf.GGML_QUANT_SIZES[kind]
    shape = base.shape(name)
    # A row that is not made of whole blocks cannot be quantised.
    return _Plan(name, shape, kind if shape[-1] % block == 0 else Kind.F16, None)


def _pieces(plan: _Plan, base: GGUFFile, changes: Sequence[Change]) -> Iterator[NDArray[np.uint8]]:
    """A tensor's bytes as they are to be written."""
    if plan.source is not None:
        yield plan.source.raw(plan.name)
        return
    weights = base.array(plan.name)
    for begin in range(0, plan.shape[0], ROWS):
        rows = weights[begin : begin + ROWS]
        for change in changes:
            rows += np.float32(change.strength) * (change.b[begin : begin + ROWS] @ change.a)
        yield np.ascontiguousarray(quantize(rows, plan.kind)).view(np.uint8).reshape(-1)


def _write_head(file: BinaryIO, base: GGUFFile, plans: Sequence[_Plan], kind: gguf.GGMLQuantizationType) -> None:
    """Everything before the weights: the original's metadata as it stands, and the tensors as they will be."""
    file.write(MAGIC + struct.pack("<IQQ", VERSION, len(plans), base.entry_count))
    file.write(_with_file_type(base.entries, FILE_TYPES[kind]))
    offset = 0
    for plan in plans:
        name = plan.name.encode()
        file.write(struct.pack("<Q", len(name)) + name)
        file.write(struct.pack(f"<I{len(plan.shape)}QIQ", len(plan.shape), *reversed(plan.shape), plan.kind, offset))
        offset += plan.size + -plan.size % base.alignment
    file.write(bytes(-file.tell() % base.alignment))


def _with_file_type(entries: bytes, file_type: int) -> bytes:
    """The metadata with what it says of the weights put right, where it says it."""
    head = struct.pack("<Q", len(FILE_TYPE)) + FILE_TYPE + struct.pack("<I", UINT32)
    place = entries.find(head)
    if place < 0:
        return entries
    place += len(head)
    return entries[:place] + struct.pack("<I", file_type) + entries[place + 4 :]
