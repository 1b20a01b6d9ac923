"""How a worker stays out of the way: idle priority, waiting while an answer is written, ending when it is told to."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from configs.locks import take_lock

PR_SET_PDEATHSIG = 1  # linux/prctl.h
NICEST = 19
AUTOGROUP = Path("/proc/self/autogroup")
PARENT_POLL_SECONDS = 0.5


def step_back() -> None:
    """Run only when nobody else wants the processor (SCHED_IDLE on Linux), or as nicely as the platform allows."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except (AttributeError, OSError):
        os.nice(NICEST)
    if not _at_a_terminal():
        _step_back_as_a_session()


def _step_back_as_a_session() -> None:
    """Linux shares the processor out among sessions first, each with a niceness of its own, and only then among the
    processes of each: an idle one in a session of its own would have half of a core that somebody else's is busy on
    (sched(7), "The autogroup feature").
    """
    # Not there: the kernel does without. Refused: it was asked a moment ago, by another worker of the same session.
    with contextlib.suppress(OSError):
        AUTOGROUP.write_text(str(NICEST), encoding="ascii")


def _at_a_terminal() -> bool:
    """Whether somebody works in the same session as this process."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Have SIGTERM and SIGINT call ``stop`` from now on: what this process carries ends in order."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())


def wish_to_stop() -> Callable[[], bool]:
    """Whether anybody has asked this process, by SIGTERM or SIGINT from now on, to end in order."""
    asked = threading.Event()
    stop_on_signals(asked.set)
    return asked.is_set


def die_with(parent: int) -> None:
    """End this process when process ``parent`` ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    # The parent may have died before the request was in force.
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(1)


class Answering:
    """Call it to know whether somebody is being answered right now: the engine holds ``flag`` (flock) while it does."""

    def __init__(self, flag: Path) -> None:
        self._flag = flag
        self._handle = -1

    def __call__(self) -> bool:
        if self._handle < 0:
            try:
                self._handle = os.open(self._flag, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return False
        # Shared, so that a worker's own look never seems an answer to another worker.
        if not take_lock(self._handle, fcntl.LOCK_SH):
            return True
        fcntl.flock(self._handle, fcntl.LOCK_UN)
        return False


class Courtesy:
    """Call it between micro-steps: it returns at once when nobody is being answered, and else waits, bounded.

    ``flag``: as ``Answering`` has it. ``waited`` counts the seconds.
    """

    def __init__(self, flag: Path, *, longest: float, poll: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._busy = Answering(flag)
        self._longest = longest
        self._poll = poll
        self._clock = clock
        self.waited = 0.0

    def __call__(self) -> None:
        if not self._busy():
            return
        start = self._clock()
        while self._busy() and self._clock() - start < self._longest:
            time.sleep(self._poll)
        self.waited += self._clock() - start
