"""Trainings that begin by themselves: how things stand, and the process that begins them, which is the trainer's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.report.wording import duration
from app.training import ROOT, answer_of, last_line, reported

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session


def night_state(session: Session) -> dict[str, Any]:
    """Pairs that no training has judged, how many are needed, the marker, and each reason for not training now.

    ``scheduler``: whether a process of ``run_nights`` is there to begin one. Raises what the trainer reports, and
    TrainerNotStarted.
    """
    state: dict[str, Any] = json.loads(answer_of(session.household.home, "trainer.night", "status")[0])
    return state


def run_nights(session: Session, heard: Callable[[Mapping[str, Any]], None]) -> None:
    """Begin trainings by themselves until this process is told to end (SIGINT, SIGTERM); a training is then stopped.

    ``heard`` is called with what happens, as ``trainer.night`` tells it. Raises what that reports.
    """
    command = [sys.executable, "-m", "trainer.night", "run", "--home", str(session.household.home.root)]
    log = session.home.trainer_log
    # Into the log, which takes whatever weeks of warnings come to; a pipe that nobody reads holds its writer up.
    with log.open("ab") as errors:
        begins_at = errors.tell()
        process = subprocess.Popen(
            [*command, "--parent", str(os.getpid())],
            cwd=ROOT,
            env=session.home.environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Ctrl-C comes through this process alone, once.
            start_new_session=True,
        )
    with process:
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def end(number: int, _: object) -> None:
            process.terminate()
            # Whoever asks again will not wait: what was told to end does so by itself.
            signal.signal(number, before[signal.Signals(number)])

        for number in before:
            signal.signal(number, end)
        try:
            assert process.stdout is not None  # noqa: S101 - for the type checker
            for line in process.stdout:
                heard(json.loads(line))
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    if process.returncode:
        raise reported(last_line(log, begins_at, process.returncode), log)


def reason_text(words: Catalogue, reason: Mapping[str, Any]) -> str:
    """A reason for not training now, in a sentence."""
    facts = {name: duration(value) if name.endswith("_s") else value for name, value in reason["facts"].items()}
    if reason["code"] == "few_pairs":
        return words.count("command.trainer.reasons.few_pairs", reason["facts"]["pairs"], needed=facts["needed"])
    return words.text(f"command.trainer.reasons.{reason['code']}", **facts)
