"""A training that begins by itself: the same process as one that somebody asks for, watched until it ends."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from configs.detached import start_detached
from configs.home import Home
from configs.sections.training import TrainingSettings
from memory.household import Household
from memory.processes import identity
from memory.runs import Run
from trainer.errors import ClaimLost, NoRoom
from trainer.night.conditions import Reason
from trainer.night.markers import Claim
from trainer.night.stopping import Stopping

POLL_SECONDS: Final = 0.2
_ROOT: Final = Path(__file__).resolve().parents[2]

Tell = Callable[[str, Mapping[str, Any]], None]


class Carrying:
    """Carries one claimed training. ``lasting``: what it is to be stopped for now; ``tell`` hears what happens.

    Kinds: stopping {reasons}, as in ``Reason``; ended {run, state, snapshot}, empty where none could begin;
    ended_private, of a member's own; and documents_read, what ``trainer.reading`` tells at its end.
    """

    def __init__(
        self,
        home: Home,
        settings: TrainingSettings,
        household: Household,
        stopping: Stopping,
        lasting: Callable[[], list[Reason]],
        tell: Tell,
    ) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        self._stopping = stopping
        self._lasting = lasting
        self._tell = tell

    def carry_private(self, member: str) -> None:
        """The same of a ``member``'s own training (an id), which no marker is for. Nobody is told what comes of it but
        that member. Raises NoRoom.
        """
        process = self._start("--member", member)
        try:
            self._watch(process, None)
        finally:
            self._end(process)
        self._tell("ended_private", {})

    def carry_documents(self, claim: Claim | None) -> bool:
        """Have the documents read, within their budget; whether the night may go on with the training.

        The process that reads waits for each of its answers and ends the engine that it started, so that nothing is
        left to be drained. ``claim`` is renewed meanwhile. Raises NoRoom and ClaimLost.
        """
        log = self._home.trainer_log
        begins_at = log.stat().st_size if log.exists() else 0
        process = self._start_module("trainer.reading", "--seconds", str(self._settings.night.documents_seconds))
        try:
            self._watch(process, claim)
        finally:
            # A document in hand is given back, or claimed by whoever finds its reader gone.
            self._end(process)
        self._tell("documents_read", _told_last(log, begins_at))
        return not self._stopping.wished and not self._lasting()

    def carry(self, claim: Claim) -> Run | None:
        """The run, ended; None where it could not even begin.

        The marker is completed where the run came to a verdict, and else left to be claimed again. Raises NoRoom.
        """
        try:
            process = self._start()
        except BaseException:
            claim.release()
            raise
        carrier = identity(process.pid)
        lost = False
        try:
            self._watch(process, claim)
        except ClaimLost:
            lost = True
        finally:
            self._end(process)
            run = self._household.runs.carried_by(carrier) if carrier else None
            if not lost:
                with contextlib.suppress(ClaimLost):
                    if run is not None and run.state in ("shipped", "held"):
                        claim.complete()
                    else:
                        claim.release()
        found = (run.id, run.state, run.snapshot or "") if run else ("", "", "")
        self._tell("ended", dict(zip(("run", "state", "snapshot"), found, strict=True)))
        return run

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        return self._start_module("trainer", "run", *options)

    def _start_module(self, module: str, *what: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *what, "--home", str(self._home.root)]
        environ = self._home.environment(os.environ)
        try:
            # In a session of its own: a Ctrl-C is for whoever watches, who then ends it in order.
            with self._home.trainer_log.open("ab") as output:
                return start_detached(command, folder=_ROOT, environ=environ, output=output)
        except OSError as error:
            raise NoRoom(path=str(self._home.trainer_log), reason=error.strerror or str(error)) from error

    def _watch(self, process: subprocess.Popen[bytes], claim: Claim | None) -> None:
        """Return when it has ended, or is to be ended. Raises ClaimLost, NoRoom."""
        renewed = looked = time.monotonic()
        while process.poll() is None and not self._stopping.wished:
            self._stopping.wait(POLL_SECONDS)
            now = time.monotonic()
            if claim is not None and now - renewed >= claim.renew_s:
                claim.renew()
                renewed = now
            if now - looked >= self._settings.night.look_seconds:
                looked = now
                if reasons := self._lasting():
                    self._tell("stopping", {"reasons": [asdict(reason) for reason in reasons]})
                    return

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End it in order, where it has not: what it did is on disk, and the next training goes on from there."""
        if process.poll() is None:
            process.terminate()
        budget = self._settings.budget
        try:
            process.wait(budget.stop_grace_seconds + budget.report_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _told_last(log: Path, begins_at: int) -> dict[str, Any]:
    """What the reading process has told of itself, in the last line that it wrote; nothing where it was killed."""
    with log.open("rb") as file:
        file.seek(begins_at)
        lines = file.read().decode(errors="replace").strip().splitlines()
    with contextlib.suppress(ValueError):
        told = json.loads(lines[-1]) if lines else {}
        return told if isinstance(told, dict) else {}
    return {}
