"""The process that begins trainings by itself: it looks, carries out what is due and may begin, and looks again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from configs.errors import EnlaceError
from configs.home import Home
from configs.locks import take_lock
from configs.settings import load_settings
from memory.household import Household
from trainer.courtesy import Answering
from trainer.errors import ClaimLost, NoRoom, SchedulerRunning
from trainer.night.carrying import Carrying, Tell
from trainer.night.documents import DocumentsPhase
from trainer.night.machine import Machine
from trainer.night.markers import Claim, Markers
from trainer.night.night import Night, NightState
from trainer.night.stopping import Stopping


class Scheduler:
    """One home's. ``tell`` hears what happens: waiting {reasons}, begins, begins_private, begins_documents,
    failed {code, facts}, what Carrying tells.

    ``environ``: the environment that settings are read from, anew at each look. ``clock``: seconds since 1970. Raises
    what is wrong with the settings.
    """

    def __init__(
        self,
        home: Home,
        environ: Mapping[str, str],
        stopping: Stopping,
        tell: Tell,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._environ = environ
        self._stopping = stopping
        self._tell = tell
        self._clock = clock
        self._settings = load_settings(home, environ)
        self._machine = Machine(home.busy_flag, clock)
        self._markers = Markers(home.night, self._settings.training.night.lease_seconds, monotonic)
        self._told_last: tuple[str, ...] = ()

    def run(self) -> None:
        """Look again and again, until somebody wishes to stop or the home is gone. Raises SchedulerRunning, NoRoom."""
        with _only_one(self._home):
            while not self._stopping.wished and self._home.family_db.is_file():
                try:
                    self.look()
                except EnlaceError as error:
                    # A full disk, settings that are being edited: the next look may find them right.
                    self._tell_new((error.code, str(error)), "failed", {"code": error.code, "facts": error.facts})
                self._stopping.wait(self._settings.training.night.look_seconds)

    def once(self) -> None:
        """Look once; where another machine holds a claim, as long as it takes to know whether that one is alive.

        Raises what ``look`` does.
        """
        self.look()
        marker = self._markers.open()
        if marker and marker.state == "claimed" and not self._markers.is_of_this_machine(marker):
            self._stopping.wait(self._settings.training.night.lease_seconds + 1)
            if not self._stopping.wished:
                self.look()

    def look(self) -> None:
        """Begin and carry out the training that is due and may begin now, if there is one; none in a home that is gone.

        Raises NoRoom and what opening the home raises.
        """
        if not self._home.family_db.is_file():
            return
        # Somebody who travels takes the quiet hours along.
        time.tzset()
        self._settings = load_settings(self._home, self._environ)
        with Household.open(self._home, self._settings.memory, self._clock, unattended=True) as household:
            night = self._night(household)
            claim, reasons = night.look()
            member = None if claim else night.look_at_members()
            phase = DocumentsPhase(self._home, self._settings.training.night, household, self._clock)
            documents = phase.due(reasons)
            if reasons and member is None and not documents:
                codes = tuple(reason.code for reason in reasons)
                self._tell_new(codes, "waiting", {"reasons": [asdict(reason) for reason in reasons]})
            if claim is None and member is None and not documents:
                return
            carrying = Carrying(
                self._home, self._settings.training, household, self._stopping, night.lasting, self._tell
            )
            if documents and not self._read(phase, carrying, claim):
                return
            if claim is not None or member is not None:
                self._tell_new((), "begins" if claim else "begins_private", {})
            if claim is not None:
                carrying.carry(claim)
            elif member is not None:
                carrying.carry_private(member)

    def _read(self, phase: DocumentsPhase, carrying: Carrying, claim: Claim | None) -> bool:
        """Have the documents read; whether the night goes on. The marker stands for both, and is held meanwhile."""
        self._tell_new((), "begins_documents", {})
        try:
            phase.note_begun()
            goes_on = carrying.carry_documents(claim)
        except BaseException:
            if claim is not None:
                with contextlib.suppress(ClaimLost):
                    claim.release()
            raise
        phase.note_ended()
        if not goes_on and claim is not None:
            claim.release()
        return goes_on

    def state(self) -> NightState:
        """How things stand; nothing is changed."""
        with Household.open(self._home, self._settings.memory, self._clock, unattended=True) as household:
            return self._night(household).state()

    def _night(self, household: Household) -> Night:
        night, zone = self._settings.training.night, self._settings.assistant.time_zone
        in_zone = ZoneInfo(zone) if zone else None
        return Night(night, household, self._markers, self._machine, self._clock, in_zone)

    def _tell_new(self, what: tuple[str, ...], kind: str, facts: Mapping[str, Any]) -> None:
        """Tell it, unless ``what`` is what was told the last time: a full disk is news once, not every minute."""
        if not what or what != self._told_last:
            self._tell(kind, facts)
        self._told_last = what


def lock_of(home: Home) -> Path:
    """Held (flock) by the process that begins this home's trainings by itself."""
    return home.night / "scheduler.lock"


def runs_in(home: Home) -> bool:
    """Whether such a process runs."""
    return Answering(lock_of(home))()


@contextmanager
def _only_one(home: Home) -> Iterator[None]:
    """Raises SchedulerRunning, NoRoom."""
    try:
        home.night.mkdir(mode=0o700, exist_ok=True)
        lock = lock_of(home).open("ab")
    except OSError as error:
        raise NoRoom(path=str(home.night), reason=error.strerror or str(error)) from error
    with lock:
        if not take_lock(lock):
            raise SchedulerRunning
        yield
