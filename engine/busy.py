"""The flag that tells background work to make room: a lock held while somebody is being answered."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO


class BusyFlag:
    """An exclusive flock on ``path``; it goes with the process, so a killed engine leaves no flag behind."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("ab")
        self._held = False

    def set(self) -> None:
        """Raise the flag; where somebody is just looking at it, the next step raises it."""
        if not self._held:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            self._held = True

    def clear(self) -> None:
        """Lower the flag."""
        if self._held:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._held = False

    def close(self) -> None:
        """Lower the flag for good."""
        self._file.close()
        self._held = False
