"""All that decides how a training's sums are rounded, in words: where they are the same, so is every bit."""

from __future__ import annotations

from importlib.metadata import version

from engine.forms.machine import fingerprint
from trainer.distributed import Together
from trainer.model.reading import BaseWeights


def computation(base: BaseWeights, threads: int, together: Together) -> str:
    """The number formats, how the frozen weights are held, threads, processes and their shares, versions, machine."""
    held = "in blocks" if base.in_blocks else "as numbers"
    versions = [f"{name} {version(name)}" for name in ("enlace", "torch", "numpy")]
    processes = f"{together.place.size} processes {together.shares}"
    return " ".join([held, str(base.dtype), f"{threads} threads", processes, *versions, fingerprint()])
