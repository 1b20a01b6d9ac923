"""A folder beside the place where something is to appear, in which it is made whole first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.backup.errors import BackupNoRoom
from configs.disk import identity
from engine.fit import MB

_ENDING: Final = ".enlace-part"


def check_room(folder: Path, needed: int) -> None:
    """Raises BackupNoRoom where ``needed`` bytes are more than the disk of ``folder`` has, and OSError."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise BackupNoRoom(path=str(folder), needed_mb=-(-needed // MB), available_mb=free // MB)


@contextmanager
def aside(folder: Path, name: str) -> Iterator[Path]:
    """A new folder in ``folder``, for its owner alone, which is gone afterwards with what is left in it.

    What a killed process left in such a folder is cleared away by the next one. Raises OSError.
    """
    _sweep(folder)
    handle = None
    while handle is None:
        made = folder / f".{name}.{os.urandom(4).hex()}{_ENDING}"
        handle = _made_and_held(made)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(handle)


def _made_and_held(path: Path) -> int | None:
    """Make the folder and hold its lock; None where somebody cleared it away before it was held. Raises OSError."""
    path.mkdir(mode=0o700)
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    # Not every file system of a network has locks; there nothing is cleared away.
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    own = os.fstat(handle)
    if identity(path) == (own.st_dev, own.st_ino):
        return handle
    os.close(handle)
    return None


def _sweep(folder: Path) -> None:
    for left in folder.glob(f".*{_ENDING}"):
        with contextlib.suppress(OSError):
            handle = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
            finally:
                os.close(handle)
