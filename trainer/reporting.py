"""A run's report, in the family's words: those are the app's, so a process of the app writes it."""

from __future__ import annotations

import os

from configs.home import Home
from memory.runs import Run
from trainer.helping import help_out


def leave_report(home: Home, run: Run, seconds: float) -> None:
    """Have ``enlace train report`` write the report of a run that ended, within ``seconds``.

    Of one on private lessons only their member can.
    """
    environ = home.environment(os.environ) | ({"ENLACE_MEMBER": run.member} if run.member else {})
    # Where it could not be written, the same command says why not, to whoever asks.
    help_out("app", ("train", "report", run.id), environ, seconds)
