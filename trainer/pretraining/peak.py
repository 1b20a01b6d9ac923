"""The most memory that this process has taken so far."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Final

from configs.pretraining.hardware import Hardware

_STATUS: Final = Path("/proc/self/status")


def peak_bytes(hardware: Hardware) -> int:
    """What it reserved of its card, or had of the machine's memory."""
    if hardware.device == "cuda":
        import torch

        return int(torch.cuda.max_memory_reserved())
    if _STATUS.exists():
        # Not ru_maxrss: of a process that another one began, it has that one's in it (execve in Linux' fs/exec.c).
        told = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(told.split()[1]) * 1024
    # Bytes on macOS (getrusage(2)).
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
