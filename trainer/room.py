"""What keeps a training's files from being written, as the error that says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainer.errors import NoRoom


@contextmanager
def room_at(path: Path) -> Iterator[None]:
    """Raises NoRoom, which names ``path``, for an OSError in what is done under it."""
    try:
        yield
    except OSError as error:
        raise NoRoom(path=str(path), reason=error.strerror or str(error)) from error
