"""All that decides how a training's sums are rounded, in words: where they are the same, so is every bit."""

from __future__ import annotations

from importlib.metadata import version

from engine.forms.machine import fingerprint
from trainer.model.reading import BaseWeights


def computation(base: BaseWeights, threads: int) -> str:
    """The number formats, how the frozen weights are held, threads, versions and the machine."""
    held = "in blocks" if base.in_blocks else "as numbers"
    versions = [f"{name} {version(name)}" for name in ("enlace", "torch", "numpy")]
    return " ".join([held, str(base.dtype), f"{threads} threads", *versions, fingerprint()])
