"""The most of the machine's memory that this process has had at once."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Final

_STATUS: Final = Path("/proc/self/status")


def peak_resident_bytes() -> int:
    """So far, in bytes."""
    if _STATUS.exists():
        # Not ru_maxrss: of a process that another one began, it has that one's in it (execve in Linux' fs/exec.c).
        told = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(told.split()[1]) * 1024
    # Bytes on macOS, kilobytes elsewhere (getrusage(2)).
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
