"""Starting the engine as a process of its own, and waiting for it to be ready or gone."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from configs.detached import leave_running, start_detached
from configs.home import Home
from configs.locks import is_held, take_lock
from configs.sections.engine import EngineSettings
from engine.errors import EngineNotEnded, EngineStartFailed, EngineUntraced, error_from_code
from engine.state_file import read_state

ROOT = Path(__file__).resolve().parent.parent
LOG = "engine.log"
STDERR = "engine.stderr.log"
LONGEST_REASON = 300


def start_engine(home: Home, settings: EngineSettings, manifest: str) -> None:
    """Start an engine that serves ``manifest``; returns when it answers at its socket.

    Callers at once get one engine: the others wait for the first one's, whose start a process of each would slow down;
    and should theirs come first, it finds the lock held and says so. Raises what kept the engine from starting, and
    EngineStartFailed.
    """
    deadline = time.monotonic() + settings.start_timeout_s
    killed = waited = False
    while not answers(home):
        with _starting(home) as first:
            if first or waited:
                report = _spawn_and_listen(home, settings, manifest, deadline)
            else:
                # Once, since a start that failed may fail for all: not one after the other.
                waited, report = True, {"held": True}
        if "killed" in report:
            # Somebody ended it as it started; once is no reason to give up.
            if killed:
                raise EngineStartFailed(reason=report["killed"], log=str(home.logs / STDERR))
            killed = True
        if "error" in report:
            raise error_from_code(report["error"]["code"], report["error"]["facts"])
        # Another engine is on its way: wait until it answers, or gives its lock back without having done so.
        while report.get("held") and not answers(home) and _is_coming(home) and time.monotonic() < deadline:
            time.sleep(settings.poll_s)
        if time.monotonic() > deadline:
            raise EngineStartFailed(reason="no answer in time", log=str(home.logs / LOG))


async def wait_until_gone(home: Home, settings: EngineSettings) -> None:
    """Return when the engine that holds the lock of this home does so no more; another one may by then.

    Raises EngineStartFailed when it does not go in time.
    """
    longest = max(settings.stop_timeout_s, settings.retire_timeout_s) + settings.start_timeout_s
    deadline = time.monotonic() + longest
    old = read_state(home.logs)
    while is_locked(home):
        now = read_state(home.logs)
        if old and now and now.pid != old.pid:
            return
        if time.monotonic() > deadline:
            raise EngineStartFailed(reason="the old engine does not end", log=str(home.logs / LOG))
        await asyncio.sleep(settings.poll_s)


def running_pid(home: Home) -> int:
    """The process of the engine that holds the lock of this home, by its own account; 0 where there is none."""
    told = read_state(home.logs)
    return told.pid if told and is_locked(home) else 0


def kill_engine(home: Home) -> None:
    """End at once the engine that holds the lock of this home, if one still does.

    Raises EngineNotEnded where the system refuses, and EngineUntraced where it cannot be told which process it is.
    """
    import psutil

    pid = running_pid(home)
    try:
        # Another process may have got the number since.
        if pid and any(os.path.samefile(file.path, home.engine_lock) for file in psutil.Process(pid).open_files()):
            os.kill(pid, signal.SIGKILL)
            return
    except (psutil.AccessDenied, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or os.strerror(errno.EPERM)
        raise EngineNotEnded(pid=pid, reason=reason) from error
    except psutil.NoSuchProcess:
        pass
    if is_locked(home):
        raise EngineUntraced(lock=str(home.engine_lock))


def answers(home: Home) -> bool:
    """Whether something accepts connections at the engine's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(os.fsencode(home.engine_socket)) == 0


def is_locked(home: Home) -> bool:
    """Whether an engine of this home is alive."""
    return is_held(home.engine_lock)


def _is_coming(home: Home) -> bool:
    """Whether an engine of this home is being started, or alive."""
    return is_held(home.engine_starting) or is_locked(home)


@contextlib.contextmanager
def _starting(home: Home) -> Iterator[bool]:
    """Whether the caller is the only one who starts an engine of this home now. Raises EngineStartFailed."""
    try:
        lock = home.engine_starting.open("ab")
    except OSError as error:
        raise EngineStartFailed(reason=str(error), log=str(home.logs / LOG)) from error
    with lock:
        yield take_lock(lock)


def _spawn_and_listen(home: Home, settings: EngineSettings, manifest: str, deadline: float) -> dict[str, Any]:
    """Start the process and read its one line of report: ready, held by another, or an error; or that it was killed."""
    ours, theirs = os.pipe()
    command = [sys.executable, "-m", "engine", "serve", "--manifest", manifest, "--report-fd", str(theirs)]
    # GGML_NO_BACKTRACE: an abort in native code must end the process at once, not call a debugger.
    environment = home.environment({**os.environ, "GGML_NO_BACKTRACE": "1"})
    try:
        with _stderr(home, settings.log_bytes) as stderr:
            begins_at = stderr.tell()
            process = start_detached(command, folder=ROOT, environ=environment, output=stderr, handles=[theirs])
    except OSError as error:
        os.close(ours)
        raise EngineStartFailed(reason=str(error), log=str(home.logs / STDERR)) from error
    finally:
        os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        if not select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
            process.kill()
            process.wait()
            raise EngineStartFailed(reason="no answer in time", log=str(home.logs / LOG))
        line = pipe.readline()
    if not line:
        reason = _last_words(home, begins_at, process.wait())
        if process.returncode < 0:
            return {"killed": reason}
        raise EngineStartFailed(reason=reason, log=str(home.logs / STDERR))
    report: dict[str, Any] = json.loads(line)
    if "ready" in report:
        leave_running(process)
    else:
        process.wait()
    return report


def _stderr(home: Home, longest: int) -> IO[bytes]:
    """Where native code writes its last words. They are kept for whoever asks later why an engine died."""
    file = (home.logs / STDERR).open("ab")
    if file.tell() > longest:
        file.truncate(0)
        file.seek(0)
    return file


def _last_words(home: Home, begins_at: int, code: int) -> str:
    """The last line on standard error after ``begins_at``, or how the process ended."""
    with (home.logs / STDERR).open("rb") as file:
        file.seek(begins_at)
        lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:LONGEST_REASON] if lines else f"it ended with code {code}"
