"""What only the system can say or do of a file: which one it is, that it is whole, and that what was written stays."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
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


@contextlib.contextmanager
def put_in_place(path: Path, *, alone: bool = False, lasting: bool = True) -> Iterator[Path]:
    """A file beside ``path`` to be written, which takes its place when the block ends, and goes where that fails.

    Where ``path`` is a link, what it leads to is written, also where nothing is there yet: the link stays one.
    ``alone``: nobody writes the same one at the same time, so that what a killed process left is written over, which
    large files need. ``lasting``: it outlives a power cut, which takes its time. Raises OSError.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    aside = path.with_name(f"{path.name}.part" if alone else f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        yield aside
        if lasting:
            sync(aside)
        aside.replace(path)
        if lasting:
            sync(path.parent)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def write_whole(
    path: Path, *content: bytes | memoryview, mode: int = 0o600, alone: bool = False, lasting: bool = True
) -> None:
    """Write ``content`` so that nobody ever finds half of it; ``mode`` is who may read it. Raises OSError.

    ``alone`` and ``lasting`` as for ``put_in_place``.
    """
    with put_in_place(path, alone=alone, lasting=lasting) as aside:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if alone else os.O_EXCL), mode)
        with open(handle, "wb") as file:
            file.writelines(content)
