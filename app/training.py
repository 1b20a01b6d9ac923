"""Starting the trainer: a process of its own that outlives whoever started it. Nothing of it is ever imported here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.standing import adults_alone
from configs.detached import leave_running, start_detached
from configs.errors import EnlaceError, Reported
from memory.pausing import paused
from memory.processes import identity

if TYPE_CHECKING:
    from app.session import Session
    from configs.home import Home
    from memory.runs import Run, Runs

ROOT: Final = Path(__file__).resolve().parent.parent
_POLL_S: Final = 0.05


class TrainerNotStarted(EnlaceError):
    """facts: reason, log."""

    code = "trainer_not_started"


class NoRun(EnlaceError):
    """No training was ever run, or none runs now. No facts."""

    code = "no_run"


class TrainingPaused(EnlaceError):
    """Somebody has paused the trainings of this home. facts: who."""

    code = "training_paused"


class NoVerdict(EnlaceError):
    """The gate has judged no such training. No facts."""

    code = "no_verdict"


def start_training(session: Session, recipe: str | None = None, *, mine: bool = False) -> Run:
    """Start a training run detached from this process; the run, once it is on record.

    ``recipe``: one of those in the settings, the usual one by default. ``mine``: on the member's private lessons, for
    them alone. Raises AdultsAlone unless ``mine``, TrainingPaused, RunAlreadyRunning, what the trainer reported when it
    ended before it began a run, and TrainerNotStarted when it reported nothing.
    """
    # The trainer trains on what is served, so there must be a snapshot.
    session.snapshot()
    if not mine:
        adults_alone(session)
    chosen = ["--recipe", recipe] if recipe else []
    return _start(session, ["run", *chosen, *(["--member", session.member.id] if mine else [])])


def start_blame(session: Session, held: str) -> Run:
    """Start the search for the lesson for which run ``held`` was held, as ``start_training`` does. Raises the same."""
    adults_alone(session)
    return _start(session, ["blame", held])


def start_manifest(session: Session, file: Path) -> Run:
    """Start the training that a manifest asks for, as ``start_training`` does. Raises the same."""
    adults_alone(session)
    return _start(session, ["run", str(file.absolute())])


def start_reproduction(session: Session, file: Path) -> Run:
    """Start what a manifest says once more, to compare, as ``start_training`` does. Raises the same."""
    adults_alone(session)
    return _start(session, ["reproduce", str(file.absolute())])


def ship_held(session: Session, held: str, why: str) -> None:
    """Have what run ``held`` trained answer on the member's word, though the gate held it.

    Raises what the trainer reports, and TrainerNotStarted when it reported nothing.
    """
    answer_of(session.home, "trainer", "ship", held, "--why", why, "--who", session.member.name)


def _start(session: Session, what: list[str]) -> Run:
    if (wish := paused(session.home)) is not None:
        raise TrainingPaused(who=wish.who)
    runs = session.household.runs
    running = runs.running()
    if running is not None:
        from memory.runs import in_the_way

        raise in_the_way(running, session.member.id)
    log = session.home.trainer_log
    command = [sys.executable, "-m", "trainer", *what, "--home", str(session.home.root), "--who", session.member.name]
    with log.open("ab") as output:
        begins_at = output.tell()
        environ = session.home.environment(os.environ)
        process = start_detached(command, folder=ROOT, environ=environ, output=output)
    try:
        begun = _begun(runs, process)
    except KeyboardInterrupt:
        # Nobody has been told that it started, so it shall not go on behind their back.
        process.terminate()
        process.wait()
        raise
    if begun is None:
        raise reported(last_line(log, begins_at, process.returncode), log, process.returncode)
    return begun


def training_rows(session: Session, recipe: str | None = None) -> tuple[str, list[Mapping[str, Any]]]:
    """What a training would train, as JSON lines, and the lessons that it would leave out.

    Raises what the trainer reports, and TrainerNotStarted when it reported nothing.
    """
    rows, told = answer_of(session.home, "trainer", "rows", *(["--recipe", recipe] if recipe else []))
    return rows, json.loads(told)


def answer_of(home: Home, module: str, *what: str, fine: tuple[int, ...] = (0,), given: str = "") -> tuple[str, str]:
    """What ``python -m MODULE WHAT`` answers about a home on its stdout, and the last line on its stderr.

    ``fine``: with which exit codes it has answered; ``given``: what it finds on its stdin. Raises what it reports, and
    TrainerNotStarted when it reported nothing.
    """
    command = [sys.executable, "-m", module, *what, "--home", str(home.root)]
    environ = home.environment(os.environ)
    done = subprocess.run(command, cwd=ROOT, env=environ, input=given.encode(), capture_output=True, check=False)
    told = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit {done.returncode}"]
    if done.returncode not in fine:
        raise reported(told[-1], home.trainer_log, done.returncode)
    return done.stdout.decode(), told[-1]


def failure_of(home: Home, facts: Mapping[str, Any]) -> EnlaceError:
    """The error that the ``facts`` of a run's event ``run_failed`` tell."""
    return Reported(str(facts.get("code", "unexpected")), {"log": str(home.trainer_log), **(facts.get("facts") or {})})


def _begun(runs: Runs, process: subprocess.Popen[bytes]) -> Run | None:
    """The run that ``process`` begins, or None where it ends without having begun one."""
    # Not just the latest run: somebody else may start one in the same moment.
    carrier = identity(process.pid)
    while True:
        ended = process.poll() is not None
        run = runs.carried_by(carrier) if carrier else None
        if run is not None:
            leave_running(process)
            return run
        if ended:
            return None
        time.sleep(_POLL_S)


def last_line(log: Path, begins_at: int, code: int) -> str:
    """The last line that a process which ended with ``code`` wrote into ``log`` after byte ``begins_at``."""
    with log.open("rb") as file:
        file.seek(begins_at)
        lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit {code}"


def reported(line: str, log: Path, exit_code: int = 1) -> EnlaceError:
    """The error that the trainer's last line tells, and with which code it ended."""
    try:
        report = json.loads(line)
        return Reported(str(report["code"]), {"log": str(log), **report["facts"]}, exit_code)
    except (ValueError, KeyError, TypeError):
        return TrainerNotStarted(reason=line, log=str(log))
