"""A training's files, written whole by whoever may; what keeps them from being written is the error that says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from configs import disk
from configs.errors import EnlaceError
from configs.locks import take_lock
from trainer.errors import NoRoom


@contextmanager
def room_at(path: Path) -> Iterator[None]:
    """Raises NoRoom, which names ``path``, for an OSError in what is done under it."""
    try:
        yield
    except OSError as error:
        raise NoRoom(path=str(path), reason=error.strerror or str(error)) from error


@contextmanager
def alone_at(lock: Path, busy: EnlaceError) -> Iterator[None]:
    """Hold the file ``lock``, in a folder that is made for it. Raises ``busy`` where somebody else does, and NoRoom."""
    with room_at(lock.parent):
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = lock.open("ab")
    with file:
        if not take_lock(file):
            raise busy
        yield


def write_whole(path: Path, *content: bytes | memoryview, alone: bool = True) -> None:
    """``configs.disk.write_whole``, in a folder that is made for it. Raises NoRoom.

    ``alone``: whoever calls this is the only one to write this file.
    """
    with room_at(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write_whole(path, *content, alone=alone)
