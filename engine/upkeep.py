"""What keeps an engine up, and tells how it died where it could not be kept up: set up once, around everything else."""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from configs.disk import identity
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine import crashes
from engine.ceiling import no_core_dumps, return_freed_blocks
from engine.liveness import DecodingLiveness, EndLiveness, LoopLiveness
from engine.logs import note
from engine.release import installed_version
from engine.resources import resident_memory
from engine.starting import STDERR
from engine.state_file import Activity, EngineState, StateFile, out_of_memory_kills, this_boot
from engine.stderr_log import clean, stderr_goes_to
from engine.watchdog import Watchdog

if TYPE_CHECKING:
    from engine.heartbeat import Heartbeat
    from engine.metrics import Metrics
    from engine.scheduler import Scheduler

DIGEST_LENGTH = 16
MB = 1 << 20

log = logging.getLogger("enlace.engine")


class Upkeep:
    """One for each engine, made while its lock is held.

    Making it writes the report on an engine that died before, and has this one's death, whatever it will be, leave
    something to report.
    """

    def __init__(self, home: Home, settings: EngineSettings) -> None:
        self._home = home
        self._settings = settings
        report = crashes.settle(home, settings)
        self.counts = crashes.count_start(home)
        if report:
            note(log, "last_engine_crashed", logging.WARNING, crashes=self.counts.crashes)
        no_core_dumps()
        return_freed_blocks(settings.returned_block_kb << 10)
        self._stacks = (home.logs / crashes.STACKS).open("wb")
        faulthandler.enable(self._stacks, all_threads=True)
        self._own_stderr = stderr_goes_to(home.logs / STDERR)
        self.version = installed_version() or ""
        state = EngineState(
            pid=os.getpid(),
            started=time.time(),
            version=self.version,
            settings=_digest(settings),
            stderr_from=(home.logs / STDERR).stat().st_size if self._own_stderr else 0,
            boot=this_boot(),
            out_of_memory_kills=out_of_memory_kills(),
        )
        self._state_file = StateFile(home.logs, state)
        self._stderr_from = state.stderr_from
        self._written_at = 0.0
        self._written: tuple[int, int] = (-1, -1)
        self._watchdog: Watchdog | None = None
        self.loop_liveness = LoopLiveness()
        self.end_liveness = EndLiveness()

    def watch(self, scheduler: Scheduler, heartbeat: Heartbeat, metrics: Metrics, retire: Callable[[], bool]) -> None:
        """Begin to look after an engine that answers; ``retire`` begins to make room for a fresh one."""
        served = scheduler.loaded.served
        self._state_file.write(ready=True, snapshot=served.name, model=served.model_name)
        note(
            log, "serving", snapshot=served.name, context_size=scheduler.loaded.context_size, starts=self.counts.starts,
            seconds=time.time() - self._state_file.state.started,
        )  # fmt: skip
        heartbeat.on_step = lambda: self._note_step(scheduler, heartbeat)

        def drop_caches() -> bool:
            metrics.measure("drop_caches")
            scheduler.drop_cache()
            return True

        def make_room() -> bool:
            # One that has answered nothing yet would only be followed by one that is no better.
            begun = metrics.finished > 0 and retire()
            if begun:
                metrics.measure("retire")
            return begun

        def make_room_for_another_version() -> None:
            installed = installed_version()
            if installed and installed != self.version and retire():
                note(log, "another_version_installed", own=self.version, installed=installed)

        reached_by = (self._home.engine_socket, self._home.engine_lock)
        own = [identity(path) for path in reached_by]

        def end_where_nobody_can_ask() -> None:
            # Somebody removed the socket or the household: no command can reach this engine any more.
            if [identity(path) for path in reached_by] != own and retire():
                note(log, "socket_removed", logging.WARNING)

        self._watchdog = Watchdog(
            self._settings,
            [DecodingLiveness(heartbeat), self.loop_liveness, self.end_liveness],
            self._state_file,
            self._stacks,
            resident=resident_memory,
            drop_caches=drop_caches,
            retire=make_room,
            chores=[
                self._clean_stderr,
                lambda: self._state_file.write(_activity(scheduler, heartbeat)),
                make_room_for_another_version,
                end_where_nobody_can_ask,
            ],
        )
        self._watchdog.start()

    def close(self) -> None:
        """The engine ends in good order."""
        if self._watchdog:
            self._watchdog.close()
        self._clean_stderr()
        faulthandler.disable()
        self._state_file.close()
        self._stacks.close()

    def _note_step(self, scheduler: Scheduler, heartbeat: Heartbeat) -> None:
        """Called by the decoding thread, hundreds of times a second: writes only what tells a death from another."""
        now, what = time.monotonic(), (scheduler.working, scheduler.waiting)
        if what != self._written or now - self._written_at >= self._settings.state_interval_s:
            self._written_at, self._written = now, what
            # With every file handle in use not even the memory can be read. The state file grows old then; an error
            # here would end the decoding thread.
            with contextlib.suppress(OSError):
                self._state_file.write(_activity(scheduler, heartbeat), snapshot=scheduler.loaded.served.name)

    def _clean_stderr(self) -> None:
        if self._own_stderr:
            kept, self._stderr_from = clean(self._home.logs / STDERR, self._stderr_from)
            if kept:
                note(log, "native_wrote", logging.WARNING, lines=len(kept))


def _activity(scheduler: Scheduler, heartbeat: Heartbeat) -> Activity:
    at_work = [
        (len(slot.tokens), len(work.job.prompt), work.written) for slot in scheduler.slots if (work := slot.work)
    ]
    return Activity(
        at=time.time(),
        step=heartbeat.steps,
        working=len(at_work),
        waiting=scheduler.waiting,
        held_tokens=sum(len(slot.tokens) for slot in scheduler.slots),
        slots=at_work,
        resident_mb=resident_memory() // MB,
    )


def _digest(settings: EngineSettings) -> str:
    """What tells these settings from others; nothing secret goes into it."""
    told = settings.model_dump_json(exclude={"hub_token"})
    return hashlib.sha256(told.encode()).hexdigest()[:DIGEST_LENGTH]
