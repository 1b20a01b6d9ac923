"""Starting the trainer: a process of its own that outlives whoever started it. Nothing of it is ever imported here."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from configs.errors import EnlaceError
from memory.errors import RunAlreadyRunning

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run

_ROOT: Final = Path(__file__).resolve().parent.parent
_LOG: Final = "trainer.log"
_POLL_S: Final = 0.05


class TrainerNotStarted(EnlaceError):
    """facts: reason, log."""

    code = "trainer_not_started"


class NoRun(EnlaceError):
    """No training was ever run, or none runs now. No facts."""

    code = "no_run"


def start_training(session: Session) -> Run:
    """Start a training run detached from this process; the run, once it is on record.

    Raises RunAlreadyRunning, and TrainerNotStarted when the trainer ended before it began a run.
    """
    runs = session.household.runs
    running = runs.running()
    if running is not None:
        raise RunAlreadyRunning(id=running.id)
    # The trainer trains on what is served, so there must be a snapshot.
    session.snapshot()
    before = runs.latest()
    log = session.home.logs / _LOG
    with log.open("ab") as output:
        begins_at = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "trainer", "run", "--home", str(session.home.root)],
            cwd=_ROOT,
            env={**os.environ, "ENLACE_HOME": str(session.home.root)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    while True:
        latest = runs.latest()
        if latest is not None and (before is None or latest.id != before.id):
            # The trainer outlives this process on purpose: whoever inherits it will reap it.
            process.returncode = process.returncode if process.returncode is not None else 0
            return latest
        if process.poll() is not None:
            raise TrainerNotStarted(reason=_last_line(log, begins_at, process.returncode), log=str(log))
        time.sleep(_POLL_S)


def _last_line(log: Path, begins_at: int, code: int) -> str:
    with log.open("rb") as file:
        file.seek(begins_at)
        lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit {code}"
