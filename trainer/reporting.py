"""A run's report, in the family's words: those are the app's, so a process of the app writes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from configs.home import Home
from memory.runs import Run


def leave_report(home: Home, run: Run, seconds: float) -> None:
    """Have ``enlace train report`` write the report of a run that ended, within ``seconds``.

    Of one on private lessons only their member can.
    """
    command = [sys.executable, "-m", "app", "train", "report", run.id]
    environ = home.environment(os.environ) | ({"ENLACE_MEMBER": run.member} if run.member else {})
    process = subprocess.Popen(
        command,
        cwd=Path(__file__).parents[1],
        env=environ,
        stdin=subprocess.DEVNULL,
        # Whether it could be written changes nothing of the run; the same command says why not, to whoever asks.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
