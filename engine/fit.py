"""Whether a model fits into this machine, and how many threads compute it."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import ModelAboveLimit, ModelTooBig
from engine.gguf import GGUFSummary

MEMINFO = Path("/proc/meminfo")
CPUS = Path("/sys/devices/system/cpu")
CGROUP = Path("/sys/fs/cgroup")
MB = 1 << 20


def check_fits(summary: GGUFSummary, cached_tokens: int, reserve_mb: int, limit_mb: int = 0) -> None:
    """Raises ModelTooBig where the file and a cache of ``cached_tokens`` do not leave ``reserve_mb`` free.

    Raises ModelAboveLimit where they take more than ``limit_mb``, which the household allows; 0 is no limit.
    """
    taken = summary.file_size + summary.cache_bytes_per_token * cached_tokens
    if limit_mb and taken > limit_mb * MB:
        raise ModelAboveLimit(path=str(summary.path), needed_mb=taken // MB, limit_mb=limit_mb)
    available = available_memory()
    needed = taken + reserve_mb * MB
    if available is not None and needed > available:
        raise ModelTooBig(path=str(summary.path), needed_mb=needed // MB, available_mb=available // MB)


def available_memory() -> int | None:
    """Bytes that can still be taken without swapping, the control group's limit included; None where unknown."""
    found = [_meminfo(), _control_group()]
    known = [value for value in found if value is not None]
    return min(known) if known else None


def usable_processors() -> set[int]:
    """The numbers of the logical processors that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def physical_cores() -> int:
    """Cores that this process may use, two threads of one core counted once: a second thread slows decoding."""
    cores = set()
    for cpu in usable_processors():
        siblings = CPUS / f"cpu{cpu}/topology/thread_siblings_list"
        try:
            cores.add(siblings.read_text().strip())
        except OSError:
            cores.add(str(cpu))
    return max(1, len(cores))


def _meminfo() -> int | None:
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        import psutil

        return int(psutil.virtual_memory().available)
    return None


def _control_group() -> int | None:
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        counts = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    # Pages of files that were read (a model's, above all) are counted as used, and given back when asked for.
    used -= int(counts.get("active_file", 0)) + int(counts.get("inactive_file", 0))
    return None if limit == "max" else max(0, int(limit) - used)
