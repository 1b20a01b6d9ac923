"""What a LoRA adapter in GGUF form changes of each matrix of its base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

from trainer.errors import NotMergeable
from trainer.model.gguf_file import GGUFFile

LORA_A, LORA_B = ".lora_a", ".lora_b"
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Change:
    """One adapter's change of one matrix: strength times b @ a; a is (rank, in), b is (out, rank), in file order."""

    a: Matrix
    b: Matrix
    strength: float


def alpha_of(adapter: GGUFFile) -> float:
    """What an adapter's products are multiplied by, over their rank; 0 where it does not say."""
    return float(adapter.metadata.get(gguf.Keys.Adapter.LORA_ALPHA, 0))


def factors_in(adapter: GGUFFile) -> Iterator[tuple[str, Matrix, Matrix]]:
    """By the name of the tensor that it changes each a (rank, in) and b (out, rank), in the order of the file."""
    for name in (full.removesuffix(LORA_A) for full in adapter.names if full.endswith(LORA_A)):
        yield name, adapter.array(name + LORA_A), adapter.array(name + LORA_B)


def read_changes(adapters: Sequence[tuple[Path, float]], base: GGUFFile) -> dict[str, list[Change]]:
    """What ``adapters`` (file, scale) change, by the tensor's name. Raises NotMergeable."""
    changes: dict[str, list[Change]] = {}
    for path, scale in adapters:
        adapter = GGUFFile(path)
        alpha = alpha_of(adapter)
        for name, a, b in factors_in(adapter):
            if name not in base or base.shape(name) != (b.shape[0], a.shape[-1]) or a.ndim != 2:
                # The embedding is turned round in an adapter, and experts have a matrix each.
                raise NotMergeable(path=str(path), tensor=name)
            rank = b.shape[1]
            strength = scale * alpha / rank if alpha else scale
            changes.setdefault(name, []).append(Change(a, b, strength))
    return changes
