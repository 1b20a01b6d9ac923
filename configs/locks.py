"""Locks that go with their holder: on an open file (flock), so a process that is killed leaves none behind."""

from __future__ import annotations

import contextlib
import fcntl
from pathlib import Path
from typing import IO


def take_lock(file: IO[bytes] | int, how: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of an open file until it is closed; False at once where somebody else holds it. Raises OSError."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock of the file at ``path`` for itself alone. Raises OSError."""
    # Shared, so that one who looks never seems to hold it to another who looks.
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        return not take_lock(file, fcntl.LOCK_SH)
    return False
