"""The thread that looks after the engine: whether it works, how much memory it holds, what native code printed."""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import IO

from configs.sections.engine import EngineSettings
from engine.ceiling import Ceiling, give_back_freed_memory
from engine.liveness import Liveness
from engine.logs import note
from engine.state_file import StateFile

EXIT_HUNG = 70

log = logging.getLogger("enlace.engine")


class Watchdog:
    """Looks every ``watch_s`` from ``start`` until ``close``. Ends the process where something watched has stopped.

    ``stacks``: where every thread is goes there before that. ``chores`` are done at every look. ``drop_caches`` and
    then ``retire`` are called where the engine holds more memory (``resident()``, in bytes) than it may; they say
    whether they did anything.
    """

    def __init__(
        self,
        settings: EngineSettings,
        watched: list[Liveness],
        state_file: StateFile,
        stacks: IO[bytes],
        *,
        resident: Callable[[], int],
        drop_caches: Callable[[], bool],
        retire: Callable[[], bool],
        chores: list[Callable[[], object]],
    ) -> None:
        self._settings = settings
        self._watched = watched
        self._state_file = state_file
        self._stacks = stacks
        self._resident = resident
        self._measures = {"drop_caches": drop_caches, "retire": retire}
        self._chores = chores
        self._ceiling = Ceiling(settings.memory_limit_mb)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Look no more. Returns when the last look is over."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        faulthandler.cancel_dump_traceback_later()

    def _run(self) -> None:
        before = time.monotonic()
        # Where native code holds Python's lock for ever, this thread hangs too. faulthandler's own needs no lock.
        last_resort = self._settings.hang_timeout_s + self._settings.watch_s
        while True:
            faulthandler.dump_traceback_later(last_resort, exit=True, file=self._stacks)
            if self._closing.wait(self._settings.watch_s):
                return
            now = time.monotonic()
            try:
                self.look(now - before)
            except Exception as error:
                # Whatever it was, it must not leave the engine without its watchdog.
                note(log, "look_failed", logging.ERROR, error=error)
            before = now

    def look(self, passed: float) -> None:
        """Look once, ``passed`` seconds after the last time."""
        # A look that comes late was held up by whatever held up everything else, a stopped process or a machine
        # without a moment for it: silence in that time says nothing.
        counted = min(passed, 2 * self._settings.watch_s)
        for each in self._watched:
            if cause := each.silent(counted, self._settings.hang_timeout_s):
                self._end(cause)
        for chore in self._chores:
            chore()
        self._keep_below_ceiling()

    def _keep_below_ceiling(self) -> None:
        resident = self._resident()
        measure = self._ceiling.look(resident)
        if measure != "none" and self._measures[measure]():
            note(log, measure, logging.WARNING, resident_bytes=resident, limit_bytes=self._ceiling.limit)
            give_back_freed_memory()

    def _end(self, cause: str) -> None:
        """End the process at once: whoever waits is told by the broken connection, and starts a fresh engine."""
        note(log, cause, logging.CRITICAL, hang_timeout_s=self._settings.hang_timeout_s)
        self._state_file.write(cause=cause)
        faulthandler.dump_traceback(self._stacks, all_threads=True)
        logging.shutdown()
        os._exit(EXIT_HUNG)
