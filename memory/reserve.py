"""Room that is kept for the moment in which the disk is full.

A database in WAL cannot even be read where there is no room for its -shm (https://www.sqlite.org/walformat.html,
2.2), and whoever would free some has to write a little first: which snapshots go, that a training is to stop. So a
file of the home takes that room while there is plenty, and is given up when there is none.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Final

from configs.home import Home
from configs.sections.memory import ReserveSettings

_KILOBYTE: Final = 1024


def keep_or_give_up(home: Home, settings: ReserveSettings) -> None:
    """Have the reserve there while there is room for much more than it, and give it up where there is nearly none.

    What stands in the way of either is no reason to fail: it is told by whoever finds no room.
    """
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(home.root).free
        if free < settings.least_free_kilobytes * _KILOBYTE:
            home.reserve.unlink(missing_ok=True)
        elif free > settings.plenty_megabytes * _KILOBYTE**2 and not home.reserve.exists():
            _keep(home, settings.kilobytes * _KILOBYTE)


def _keep(home: Home, size: int) -> None:
    """Raises OSError. Written, not only said to be so long: a file of nothing but a length takes no room."""
    aside = home.reserve.with_name(f".{home.reserve.name}.{os.urandom(4).hex()}.part")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            # No two blocks alike, so that no file system packs them.
            file.write(os.urandom(size))
        aside.replace(home.reserve)
    finally:
        aside.unlink(missing_ok=True)
