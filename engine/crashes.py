"""Reports of engines that died: ``logs/crash-<time>.json``, written by the next one from what the dead one left.

A report says when, which version, which snapshot of which model, with which settings (as a digest), what the engine
was doing in numbers, its last log lines, what native code said last, and where every thread was. It holds nobody's
words: each of its sources is written without them (see ``engine.logs`` and ``engine.stderr_log``).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import time
from collections import deque
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from configs.disk import write_whole
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.logs import short_path, timestamp
from engine.starting import LOG, STDERR
from engine.state_file import STATE_FILE, EngineState, out_of_memory_kills, read_state, this_boot
from engine.stderr_log import clean

STACKS = "engine.stacks"
COUNTS = "engine.counts.json"
FORMAT = 1
TOLD_AS_IT_IS = ("pid", "version", "snapshot", "model", "settings", "ready")
LONGEST_TAIL = 1 << 17  # bytes of a log that may hold its last lines
LONGEST_STACKS = 1 << 20
MOST_STACK_LINES = 400
# faulthandler's first line -> the cause and the signal.
FATAL = {
    "Segmentation fault": ("segmentation_fault", "SIGSEGV"),
    "Aborted": ("abort", "SIGABRT"),
    "Bus error": ("bus_error", "SIGBUS"),
    "Illegal instruction": ("illegal_instruction", "SIGILL"),
    "Floating point exception": ("arithmetic_error", "SIGFPE"),
}
STACK_FILE = re.compile(r'File "(?P<path>[^"]*)"')
KEPT_STACK_LINE = re.compile(r'Fatal Python error: |Timeout \(|(?:Current thread|Thread) 0x|  File "|  <|  \.\.\.')


@dataclass(frozen=True)
class Crash:
    """The last crash in short, as a status shows it."""

    at: str
    cause: str
    report: str

    @property
    def seconds(self) -> float:
        """When it was, in seconds since 1970."""
        return datetime.fromisoformat(self.at).timestamp()


@dataclass
class Counts:
    """How often an engine of this home was started, and how often one died; they outlive each engine."""

    starts: int = 0
    crashes: int = 0


def settle(home: Home, settings: EngineSettings) -> Path | None:
    """Write the report on the last engine, if it died; where it is. Call only while holding the engine's lock."""
    state = read_state(home.logs)
    if state is None:
        return None
    stacks = _stacks(home.logs / STACKS)
    said, _ = clean(home.logs / STDERR, state.stderr_from)
    path = None
    # A machine that lost its power took every process with it; that is no engine's fault.
    if not state.ended and state.boot == this_boot():
        path = _report(home, settings, state, stacks, said)
    (home.logs / STATE_FILE).unlink(missing_ok=True)
    (home.logs / STACKS).unlink(missing_ok=True)
    return path


def _report(
    home: Home, settings: EngineSettings, state: EngineState, stacks: list[str], said: list[str]
) -> Path | None:
    _count(home, crashes=1)
    cause, signal = _cause(state, stacks)
    report = {
        "format": FORMAT,
        "at": timestamp(max(state.started, state.activity.at)),
        "found_at": timestamp(time.time()),
        "cause": cause,
        "signal": signal,
        **{name: getattr(state, name) for name in TOLD_AS_IT_IS},
        "started_at": timestamp(state.started),
        "activity": {**asdict(state.activity), "at": timestamp(state.activity.at)},
        "last_words": said,
        "stacks": stacks,
        "log": _last_lines(home.logs / LOG, state.pid, settings.crash_log_lines),
    }
    path = home.logs / f"crash-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{state.pid}.json"
    try:
        write_whole(path, json.dumps(report, indent=1).encode())
    except OSError:
        return None  # no room for it; the engine must start all the same
    for old in reports(home)[settings.crash_reports :]:
        old.unlink(missing_ok=True)
    return path


def _settle_if_gone(home: Home, settings: EngineSettings) -> None:
    """The same for who is not an engine: does nothing while one lives, or where the home cannot be written to."""
    if not home.engine_lock.exists():
        return
    with contextlib.suppress(OSError), home.engine_lock.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        settle(home, settings)


def last_crash(home: Home, settings: EngineSettings) -> Crash | None:
    """The newest report, in short; None where no engine died, or its report cannot be read.

    Where an engine died and none was started since, its report is written first.
    """
    _settle_if_gone(home, settings)
    for path in reports(home):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            report = json.loads(path.read_bytes())
            found = Crash(str(report["at"]), str(report["cause"]), str(path))
            return found if found.seconds else None
    return None


def reports(home: Home) -> list[Path]:
    """The reports that are kept, newest first."""
    return sorted(home.logs.glob("crash-*.json"), key=lambda path: path.name, reverse=True)


def count_start(home: Home) -> Counts:
    """Count one more start; the counts with it."""
    return _count(home, starts=1)


def _count(home: Home, starts: int = 0, crashes: int = 0) -> Counts:
    path = home.logs / COUNTS
    try:
        counts = Counts(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        counts = Counts()
    counts = Counts(counts.starts + starts, counts.crashes + crashes)
    with contextlib.suppress(OSError):
        write_whole(path, json.dumps(asdict(counts), indent=1).encode(), lasting=False)
    return counts


def _cause(state: EngineState, stacks: list[str]) -> tuple[str, str | None]:
    """Why it died, as far as it can be known, and the signal that ended it."""
    if state.cause:
        return state.cause, None
    for line in stacks:
        if line.startswith("Fatal Python error: "):
            what = line.removeprefix("Fatal Python error: ")
            return FATAL.get(what, ("fatal_error", None))
        if line.startswith("Timeout ("):
            return "hang", None
    if out_of_memory_kills() > state.out_of_memory_kills:
        return "out_of_memory", "SIGKILL"
    return ("killed", "SIGKILL") if state.ready else ("killed_while_starting", None)


def _stacks(path: Path) -> list[str]:
    """What faulthandler wrote when it died: where every thread was."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST_STACKS).decode(errors="replace")
    except OSError:
        return []
    lines = [line for line in text.splitlines() if KEPT_STACK_LINE.match(line)][:MOST_STACK_LINES]
    return [STACK_FILE.sub(lambda found: f'File "{short_path(found["path"])}"', line) for line in lines]


def _last_lines(path: Path, pid: int, most: int) -> list[Any]:
    """The last lines that the process ``pid`` logged."""
    found: deque[Any] = deque(maxlen=most)
    for file in (path.with_name(f"{path.name}.1"), path):
        try:
            with file.open("rb") as log:
                log.seek(max(0, file.stat().st_size - LONGEST_TAIL))
                lines = log.readlines()
        except OSError:
            continue
        for line in lines:
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("pid") == pid:
                    found.append(entry)
    return list(found)
