"""``enlace train now`` in a temporary home, measured from the command to the gate's verdict and the swap."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import MeasurementFailed
from benchmarks.homes import enlace
from benchmarks.processes import run

HELD = 3


@dataclass(frozen=True)
class Training:
    """``seconds`` from the command to its end; ``peak_bytes`` of the largest stage; ``folder``: the run's files."""

    seconds: float
    peak_bytes: int
    decision: str
    folder: Path


def train_now(home: dict[str, str], limit: float) -> Training:
    """A training to its verdict, within ``limit`` seconds; one that is left running is stopped.

    Raises MeasurementFailed.
    """
    try:
        # One that runs on is a process of its own.
        finished = run(enlace("train", "now", "--json"), home, timeout=limit, accepted=(0, HELD))
    except BaseException:
        subprocess.run(enlace("train", "stop"), env=home, capture_output=True, timeout=limit, check=False)
        raise
    told = json.loads(finished.output)
    if not told["verdict"]:
        raise MeasurementFailed(f"The training ended without a verdict: {finished.output[:400]}")
    folder = Path(home["ENLACE_HOME"]) / "runs" / told["id"]
    reports = [json.loads(report.read_text(encoding="utf-8")) for report in folder.glob("*/report.json")]
    peak = max(int(report["peak_bytes"]) for report in reports)
    return Training(finished.seconds, peak, told["verdict"]["decision"], folder)
