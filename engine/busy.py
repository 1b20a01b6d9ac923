"""The flag that tells background work to make room: a lock held while somebody is being answered."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO

from configs.locks import take_lock


class BusyFlag:
    """An exclusive flock on ``path``; it goes with the process, so a killed engine leaves no flag behind.

    The file's time of modification is when it was last raised or lowered, which tells how long it has been down.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("ab")
        self._held = False

    def set(self) -> None:
        """Raise the flag; where somebody is just looking at it, the next step raises it."""
        if not self._held and take_lock(self._file):
            self._held = True
            self._note_time()

    def clear(self) -> None:
        """Lower the flag."""
        if self._held:
            self._note_time()
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._held = False

    def close(self) -> None:
        """Lower the flag for good."""
        self._file.close()
        self._held = False

    def _note_time(self) -> None:
        # A disk that takes no time takes no answer's words either, and those say so.
        with contextlib.suppress(OSError):
            os.utime(self._file.fileno())
