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

_ENDING: Final = ".enlace-part"


@contextmanager
def aside(folder: Path, name: str) -> Iterator[Path]:
    """A new folder in ``folder``, for its owner alone, which is gone afterwards with what is left in it.

    What a killed process left in such a folder is cleared away by the next one. Raises OSError.
    """
    _sweep(folder)
    made = folder / f".{name}.{os.urandom(4).hex()}{_ENDING}"
    made.mkdir(mode=0o700)
    handle = os.open(made, os.O_RDONLY)
    try:
        # Not every file system of a network has locks; there nothing is cleared away.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(handle)


def _sweep(folder: Path) -> None:
    for left in folder.glob(f".*{_ENDING}"):
        with contextlib.suppress(OSError):
            handle = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
            finally:
                os.close(handle)
