"""What a living engine writes down of itself in numbers, so that the next one can tell how it died.

A process that is killed by a signal can write nothing any more. So it writes beforehand: a small file in the folder
of logs, rewritten in place whenever what the engine is doing changes, and marked when it ends in good order. It is
written by a plain system call into the file's cache, which outlives the process; on a full disk the numbers in it
grow old, and nothing else happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

STATE_FILE = "engine.state.json"
# One block of a file: a rewrite in place neither grows nor shrinks it, so no reader meets half of one.
SIZE = 4096
BOOT = Path("/proc/sys/kernel/random/boot_id")
MEMORY_EVENTS = Path("/sys/fs/cgroup/memory.events")


@dataclass
class Activity:
    """What the engine is at, in numbers. ``slots``: for each at work, tokens held, tokens of its prompt, written."""

    at: float = 0.0
    step: int = 0
    working: int = 0
    waiting: int = 0
    held_tokens: int = 0
    slots: list[tuple[int, int, int]] = field(default_factory=list)
    resident_mb: int = 0


@dataclass
class EngineState:
    """What an engine is and does. ``cause`` is set where it decides to end; ``ended`` where that was in good order."""

    pid: int
    started: float
    version: str
    settings: str
    stderr_from: int
    boot: str
    out_of_memory_kills: int
    snapshot: str = ""
    model: str = ""
    ready: bool = False
    cause: str = ""
    ended: bool = False
    activity: Activity = field(default_factory=Activity)


class StateFile:
    """The file in the hands of the living engine; any thread may write."""

    def __init__(self, folder: Path, state: EngineState) -> None:
        self.state = state
        self._lock = threading.Lock()
        self._handle = os.open(folder / STATE_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.write()

    def write(self, activity: Activity | None = None, **changes: Any) -> None:
        """Write the state down, as changed."""
        with self._lock:
            if activity is not None:
                self.state.activity = activity
            for name, value in changes.items():
                setattr(self.state, name, value)
            with contextlib.suppress(OSError):
                os.pwrite(self._handle, json.dumps(asdict(self.state)).encode().ljust(SIZE), 0)

    def close(self) -> None:
        """Say that the engine ended in good order."""
        self.write(ended=True)
        os.close(self._handle)


def read_state(folder: Path) -> EngineState | None:
    """What the last engine wrote; None where none did, or where it cannot be read."""
    try:
        found = json.loads((folder / STATE_FILE).read_bytes())
        return EngineState(**{**found, "activity": Activity(**found["activity"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def this_boot() -> str:
    """What tells one start of the machine from another; empty where nothing does."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed in this control group for want of memory; 0 where it does not say."""
    try:
        counts = dict(line.split() for line in MEMORY_EVENTS.read_text().splitlines())
        return int(counts.get("oom_kill", 0))
    except (OSError, ValueError):
        return 0
