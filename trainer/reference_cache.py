"""What the frozen base said of a text, kept from night to night under the hash of what it read.

One file for each base and way of computing. A template, a system prompt or a lesson that changes makes other tokens,
and so another name; another base, another file. A damaged file is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from trainer.errors import NoRoom
from trainer.packing import Item
from trainer.sealed import read_sealed, write_sealed

PATTERN = "references-*.bin"
Row = Mapping[str, torch.Tensor]
NAMED = 32  # hex digits of a hash in a file's name
NAMING_BYTES = 512  # at most, what a file takes to name a tensor and say where it is


class ReferenceCache:
    """Rows of tensors by name. ``belongs``: the base and the way of computing, in words; ``most_bytes`` for all files.

    What a training does not ask for is not kept after it: so nothing of a lesson that was withdrawn stays here.
    """

    def __init__(self, folder: Path, belongs: str, most_bytes: int) -> None:
        self._path = folder / f"references-{hashlib.sha256(belongs.encode()).hexdigest()[:NAMED]}.bin"
        self._belongs = belongs
        self._most_bytes = most_bytes
        self._known: dict[str, Row] = {}
        self._asked: dict[str, Row] = {}
        tensors, notes = read_sealed(self._path) or ({}, {})
        if notes.get("belongs") == belongs:
            for row, parts in notes["rows"].items():
                self._known[row] = {part: tensors[f"{row}.{part}"] for part in parts}

    def get(self, row: str) -> Row | None:
        """None where it is not known."""
        found = self._asked.get(row) or self._known.get(row)
        if found:
            self._asked[row] = found
        return found

    def put(self, row: str, parts: Row) -> None:
        """Know it from now on, and in the next night once ``write`` was called."""
        self._asked[row] = parts

    def write(self) -> None:
        """Put on disk what was asked for, as far as there is room; other bases' files go where that is needed.

        Where it cannot be written, nothing is lost but time in another night.
        """
        if self._asked.keys() == self._known.keys() or not self._most_bytes:
            return
        kept: dict[str, Row] = {}
        room = self._most_bytes
        for row, parts in self._asked.items():
            room -= sum(NAMING_BYTES + value.nbytes for value in parts.values())
            if room < 0:
                break
            kept[row] = parts
        tensors = {f"{row}.{part}": value for row, parts in kept.items() for part, value in parts.items()}
        notes = {"belongs": self._belongs, "rows": {row: list(parts) for row, parts in kept.items()}}
        with contextlib.suppress(NoRoom, OSError):
            write_sealed(self._path, tensors, notes)
            self._prune()

    def _prune(self) -> None:
        others = [path for path in self._path.parent.glob(PATTERN) if path != self._path]
        room = self._most_bytes - self._path.stat().st_size
        for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True):
            room -= path.stat().st_size
            if room < 0:
                path.unlink()


def row_name(kind: str, item: Item) -> str:
    """The name of what ``kind`` of thing the base says of ``item``: its prompt and its answer decide it."""
    tokens = np.array([len(item.prompt), *item.prompt, *item.answer], dtype=np.int64)
    return f"{kind}.{hashlib.sha256(tokens.tobytes()).hexdigest()}"
