"""What a measurement of speed holds for: this processor, its cores, its memory, this build of llama.cpp."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path

from engine.fit import physical_cores

CPUINFO = Path("/proc/cpuinfo")
ACCELERATORS = (Path("/proc/driver/nvidia/gpus"), Path("/sys/class/kfd/kfd/topology/nodes"))
# Lines of /proc/cpuinfo that say what kind of processor it is; the others change while it runs.
TELLING = ("vendor_id", "model name", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
GIB = 1 << 30


def fingerprint() -> str:
    """The same text as long as this is the same kind of machine; 32 hex digits."""
    facts = [
        platform.system(),
        platform.machine(),
        platform.processor(),
        str(physical_cores()),
        str(_memory() // GIB),
        importlib.metadata.version("llama-cpp-python"),
        *_processor(),
        *(entry for folder in ACCELERATORS for entry in _entries(folder)),
    ]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _processor() -> list[str]:
    """What the first processor says of itself, in its own order."""
    try:
        lines = CPUINFO.read_text().split("\n\n", 1)[0].splitlines()
    except OSError:
        return []
    return [line for line in lines if line.split(":", 1)[0].strip() in TELLING]


def _memory() -> int:
    """Bytes of the machine's memory; 0 where it is not told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
