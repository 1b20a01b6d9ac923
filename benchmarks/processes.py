"""Run a command to its end and measure it: wall time, peak memory of the process and all under it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from benchmarks.errors import MeasurementFailed

SAMPLING_SECONDS = 0.05
GRACE_SECONDS = 5.0
SHOWN_CHARACTERS = 600


@dataclass(frozen=True)
class Finished:
    """A command that ended well. ``seconds`` from start to exit; ``peak_bytes`` of resident memory."""

    seconds: float
    peak_bytes: int
    output: str


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    timeout: float,
    accepted: Sequence[int] = (0,),
) -> Finished:
    """Run to the end. Raises MeasurementFailed on an exit code not ``accepted``, or after ``timeout`` seconds.

    The peak is the larger of two: what the system reports of the largest single process, and the sum over the
    process and its descendants, sampled. The first misses a family of processes, the second a short spike.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(arguments),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
        watch = _MemoryWatch(process.pid)
        try:
            code, largest = _wait(process, started + timeout)
            seconds = time.perf_counter() - started
        finally:
            watch.stop()
            end_group(process)
        for stream in (output, complaints):
            stream.seek(0)
        text, complaint = output.read().decode(errors="replace"), complaints.read().decode(errors="replace")
    if code not in accepted:
        ending = (complaint.strip() or text.strip())[-SHOWN_CHARACTERS:]
        raise MeasurementFailed(f"`{_shown(arguments)}` ended with code {code}: {ending}")
    return Finished(seconds, max(largest, watch.peak), text)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, int]:
    """Exit code and the largest resident set in bytes of any one process that was waited for."""
    alarm = threading.Timer(max(deadline - time.perf_counter(), 0), process.kill)
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        late = not alarm.is_alive()
        alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if late:
        raise MeasurementFailed(f"`{_shown(process.args)}` did not end in the time it had.")
    unit = 1 if os.uname().sysname == "Darwin" else 1024
    return process.returncode, usage.ru_maxrss * unit


def _shown(arguments: object) -> str:
    """A command as a person would type it."""
    words = arguments if isinstance(arguments, list | tuple) else [arguments]
    return " ".join(map(str, words))[:SHOWN_CHARACTERS]


class _MemoryWatch:
    """Samples the resident memory of a process and its descendants until stopped; ``peak`` in bytes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._root = psutil.Process(pid)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._done.wait(SAMPLING_SECONDS):
            self.peak = max(self.peak, resident(self._root))

    def stop(self) -> None:
        self._done.set()
        self._thread.join()


def resident(root: psutil.Process) -> int:
    """Bytes of resident memory of a process and all under it now; 0 when it is gone."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for each in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += each.memory_info().rss
    return total


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process's own group: asked first, killed after a grace. Nothing else is touched."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            return
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and _group_lives(process):
            time.sleep(0.02)


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
