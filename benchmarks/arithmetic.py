"""How much of what the processor multiplies at best a training does: operations that a step needs, over its time."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.homes import clean_environment
from benchmarks.plan import Plan
from benchmarks.processes import run
from benchmarks.rows import Row, row
from benchmarks.training import prepared_pairs
from configs.home import Home
from configs.settings import load_settings
from trainer.staging import worker_environment

BOUND = 0.65


def arithmetic(plan: Plan) -> list[Row]:
    """Of each step its rate over the matrix product's just before it: the median. Raises MeasurementFailed."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        prepared_pairs(Path(folder), plan.learning, plan.learning.pairs)
        engine = load_settings(Home(Path(folder)), {}).engine
        environment = clean_environment() | worker_environment(engine)
        command = [sys.executable, "-m", "benchmarks.rated_steps", folder]
        told = json.loads(run(command, environment, timeout=plan.learning.timeout_s).output)
    rates, peaks = told["rates"], told["peaks"]
    shares = [rate / peak for rate, peak in zip(rates, peaks, strict=True)]
    note = f"{median(rates) / 1e9:.0f} of {median(peaks) / 1e9:.0f} GFLOP/s in {told['format'].removeprefix('torch.')}."
    return [
        row(
            "training, arithmetic rate",
            median(shares),
            "of the product's",
            bound=BOUND,
            bound_on="value",
            better="higher",
            samples=len(shares),
            note=note,
        )
    ]
