"""Tensors and what is to be known of them in one file that tells by itself whether it is still what was written.

The form of safetensors: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from trainer.room import write_whole

DIGEST_BYTES = hashlib.sha256().digest_size
LENGTH_BYTES = 8  # of the header of safetensors, little-endian
ALIGNMENT = 8  # of what follows the header
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8",
}  # fmt: skip


def write_sealed(path: Path, tensors: Mapping[str, torch.Tensor], notes: Mapping[str, Any]) -> None:
    """The SHA-256 of a safetensors file, then that file, its metadata holding ``notes`` (JSON). Raises NoRoom.

    It is written from the tensors' own memory: safetensors' own writer takes twice their size beside them.
    """
    header: dict[str, Any] = {"__metadata__": {"notes": json.dumps(notes)}}
    pieces: list[bytes | memoryview] = []
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
        pieces.append(tensor.detach().reshape(-1).view(torch.uint8).numpy().data)
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % ALIGNMENT)
    body = [len(told).to_bytes(LENGTH_BYTES, "little"), told, *pieces]
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    write_whole(path, digest.digest(), *body)


def read_sealed(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
    """What ``write_sealed`` was given; None where the file is not there, or not what was written."""
    try:
        with path.open("rb") as file:
            digest = file.read(DIGEST_BYTES)
            body = file.read()
        if hashlib.sha256(body).digest() != digest:
            return None
        length = int.from_bytes(body[:LENGTH_BYTES], "little")
        header = json.loads(body[LENGTH_BYTES : LENGTH_BYTES + length])
        notes: dict[str, Any] = json.loads(header["__metadata__"]["notes"])
        return load(body), notes
    except (OSError, ValueError, KeyError, SafetensorError):
        return None
