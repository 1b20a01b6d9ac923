"""Telling whether the process that started something still lives, although process ids are used again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


def identity(pid: int) -> str:
    """What distinguishes this process from every other that had or will have its id; empty when there is none.

    On Linux: boot, id and start in clock ticks since boot. psutil's start time is not used there because it
    moves when the clock is set, and because importing psutil takes 50 ms of an answer's time.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return "" if Path("/proc/self/stat").exists() else _portable(pid)
    # proc(5): the command's name, field 2, may itself hold spaces and brackets; the state is field 3.
    fields = stat.rpartition(")")[2].split()
    state, started = fields[0], fields[19]
    return "" if state in "ZX" else f"{_boot()}:{pid}:{started}"


def own_identity() -> str:
    """The identity of this process."""
    return identity(os.getpid())


def lives(known: str) -> bool:
    """Whether the process with this identity still runs."""
    parts = known.split(":")
    return len(parts) == 3 and parts[1].isdigit() and identity(int(parts[1])) == known


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _portable(pid: int) -> str:
    import psutil

    try:
        process = psutil.Process(pid)
        running = process.status() != psutil.STATUS_ZOMBIE
        return f"boot:{pid}:{process.create_time():.2f}" if running else ""
    except psutil.NoSuchProcess:
        return ""
