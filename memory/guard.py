"""The lock of one member's file beside it: whoever copies or exchanges the whole file holds it alone for that time.

SQLite's own locks say who reads and who writes inside a file. They cannot be asked for by somebody without the key, who
makes a backup of an encrypted one, nor do they say that the file of that name is about to be another.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from configs.locks import take_lock
from memory.errors import DatabaseBusy

_POLL_S: Final = 0.01


class Guard:
    """Of the database ``path``; ``busy_seconds``: how long to wait for others."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._path = path
        self._lock = lock_of(path)
        self._busy_seconds = busy_seconds

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Nobody exchanges or copies the file meanwhile. Raises DatabaseBusy, OSError."""
        with self._held(fcntl.LOCK_SH):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody opens the file meanwhile, nor writes to it if it is encrypted. Raises DatabaseBusy, OSError."""
        with self._held(fcntl.LOCK_EX):
            yield

    @contextmanager
    def _held(self, how: int) -> Iterator[None]:
        # Whoever wants it alone keeps others from coming in by the folder's lock, which they pass through: of many who
        # write, one after the other, there would never be none.
        gate = os.open(self._path.parent, os.O_RDONLY)
        try:
            handle = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                deadline = time.monotonic() + self._busy_seconds
                while not self._come_in(gate, handle, how):
                    if time.monotonic() > deadline:
                        raise DatabaseBusy(path=str(self._path), seconds=self._busy_seconds)
                    time.sleep(_POLL_S)
                fcntl.flock(gate, fcntl.LOCK_UN)
                yield
            finally:
                os.close(handle)
        finally:
            os.close(gate)

    def _come_in(self, gate: int, handle: int, how: int) -> bool:
        if not take_lock(gate, how):
            return False
        if take_lock(handle, how):
            return True
        if how == fcntl.LOCK_SH:
            # Who holds this one may be waiting to pass through for another.
            fcntl.flock(gate, fcntl.LOCK_UN)
        return False


def lock_of(path: Path) -> Path:
    """The file beside a database that the lock is on; there is nothing in it, and no backup keeps it."""
    return path.with_suffix(".lock")
