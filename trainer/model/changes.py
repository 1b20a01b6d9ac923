"""What a LoRA adapter in GGUF form changes of each matrix of its base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trainer.errors import NotMergeable
from trainer.model.gguf_file import GGUFFile

LORA_A, LORA_B = ".lora_a", ".lora_b"


@dataclass(frozen=True)
class Change:
    """One adapter's change of one matrix: strength times b @ a; a is (rank, in), b is (out, rank), in file order."""

    a: NDArray[np.float32]
    b: NDArray[np.float32]
    strength: float


def read_changes(adapters: Sequence[tuple[Path, float]], base: GGUFFile) -> dict[str, list[Change]]:
    """What ``adapters`` (file, scale) change, by the tensor's name. Raises NotMergeable."""
    changes: dict[str, list[Change]] = {}
    for path, scale in adapters:
        adapter = GGUFFile(path)
        alpha = float(adapter.metadata.get("adapter.lora.alpha", 0))
        for name in (full.removesuffix(LORA_A) for full in adapter.names if full.endswith(LORA_A)):
            a, b = adapter.array(name + LORA_A), adapter.array(name + LORA_B)
            if name not in base or base.shape(name) != (b.shape[0], a.shape[-1]) or a.ndim != 2:
                # The embedding is turned round in an adapter, and experts have a matrix each.
                raise NotMergeable(path=str(path), tensor=name)
            rank = b.shape[1]
            strength = scale * alpha / rank if alpha else scale
            changes.setdefault(name, []).append(Change(a, b, strength))
    return changes
