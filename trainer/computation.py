"""All that decides how a training's sums are rounded, in words: where they are the same, so is every bit."""

from __future__ import annotations

from importlib.metadata import version

from engine.forms.machine import fingerprint
from trainer.distributed import Together
from trainer.model.compiled import compiled
from trainer.model.reading import BaseWeights


def computation(base: BaseWeights, threads: int, together: Together) -> str:
    """The number formats, how the frozen weights are held and what is between the products, threads, processes and
    their shares, versions, machine.
    """
    held = "in blocks" if base.in_blocks else "as numbers"
    between = "compiled" if compiled(base.dtype, base.final_norm.device) else "not compiled"
    versions = [f"{name} {version(name)}" for name in ("enlace", "torch", "numpy")]
    processes = f"{together.place.size} processes {together.shares}"
    return " ".join([held, between, str(base.dtype), f"{threads} threads", processes, *versions, fingerprint()])
