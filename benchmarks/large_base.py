"""A step of training on a base of 1.5 billion weights: what it takes beside the file."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import MeasurementFailed
from benchmarks.homes import clean_environment
from benchmarks.large_model import write_large_model
from benchmarks.plan import Plan
from benchmarks.processes import run
from benchmarks.rows import Row, row

# Of the file, and in bytes beside it: the program, the adapter with its optimiser, one layer's activations.
FILE_SHARE, BESIDE = 1.3, 1_500_000_000


@dataclass(frozen=True)
class Step:
    """One step. ``file_bytes`` and ``weights``: of the base; ``seconds``: of the step alone."""

    peak_bytes: int
    file_bytes: int
    weights: int
    seconds: float

    @property
    def bound_bytes(self) -> float:
        return FILE_SHARE * self.file_bytes + BESIDE


def large_base(plan: Plan) -> list[Row]:
    """Peak memory and time of one step; nothing in a quick measurement."""
    if not plan.learning.large_base:
        return []
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        step = one_step(Path(folder), plan.learning.timeout_s)
    note = f"{step.weights / 1e9:.2f} billion weights in Q4_K, a file of {step.file_bytes / 2**20:.0f} MiB."
    bound = step.bound_bytes / 2**20
    return [
        row("a step on a large base, peak memory", step.peak_bytes / 2**20, "MiB", bound=bound, bound_on="value",
            note=note),
        row("a step on a large base, wall time", step.seconds, "s", note=note),
    ]  # fmt: skip


def one_step(folder: Path, timeout_s: float) -> Step:
    """Write the base into ``folder`` and take the step in a process of its own. Raises MeasurementFailed."""
    model = folder / "large.gguf"
    weights = write_large_model(model)
    environment = clean_environment() | {"OMP_WAIT_POLICY": "PASSIVE"}
    done = run([sys.executable, "-m", "benchmarks.one_step", str(model)], environment, timeout=timeout_s)
    took = json.loads(done.output)
    if not math.isfinite(took["loss"]):
        raise MeasurementFailed(f"The step's loss was {took['loss']}.")
    return Step(done.peak_bytes, model.stat().st_size, weights, took["step_s"])
