"""What this process takes of the machine."""

from __future__ import annotations

import os
from pathlib import Path

STATM = Path("/proc/self/statm")


def resident_memory() -> int:
    """Bytes of this process in memory, its share of mapped files included. Raises OSError where it cannot be read."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:  # another system than Linux
        import psutil

        return int(psutil.Process().memory_info().rss)
