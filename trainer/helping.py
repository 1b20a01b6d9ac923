"""Processes of their own for what a run leaves beside its result: whether they succeed changes nothing of the run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def help_out(module: str, arguments: Sequence[str], environ: Mapping[str, str], seconds: float) -> None:
    """Run ``python -m module`` with these arguments and environment to its end, or for ``seconds``; nobody hears it."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=Path(__file__).parents[1],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
