"""Tensors and what is to be known of them in one file that tells by itself whether it is still what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from trainer.run_files import write_whole

DIGEST_BYTES = hashlib.sha256().digest_size
LENGTH_BYTES = 8  # of the header of safetensors, little-endian


def write_sealed(path: Path, tensors: Mapping[str, torch.Tensor], notes: Mapping[str, Any]) -> None:
    """The SHA-256 of a safetensors file, then that file, its metadata holding ``notes`` (JSON). Raises NoRoom."""
    body = save(dict(tensors), metadata={"notes": json.dumps(notes)})
    write_whole(path, hashlib.sha256(body).digest(), body)


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
