"""What only the system can say or do of a file: which one it is, and that what was written stays written."""

from __future__ import annotations

import os
from pathlib import Path


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one that has its name later; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync(path: Path) -> None:
    """Return when a file, or the names in a folder, would outlive a power cut. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
