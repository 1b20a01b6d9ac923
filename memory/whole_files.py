"""What a member exports: whole or not there, and readable by its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from configs import disk
from memory.errors import FileInTheWay, FileNotWritten


def write_whole(path: Path, content: str | bytes) -> None:
    """``configs.disk.write_whole`` of bytes, or of a text in UTF-8. Raises FileNotWritten."""
    try:
        disk.write_whole(path, _bytes(content))
    except OSError as error:
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error


def write_new(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file that somebody named, in the place of nothing; texts one after the other, as they are made.

    Raises FileInTheWay, FileNotWritten.
    """
    with new_file(path) as file:
        for part in [content] if isinstance(content, str | bytes) else content:
            file.write(_bytes(part))


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to be written in the place of nothing, which is there when the block has ended without an error.

    Raises FileInTheWay, FileNotWritten.
    """
    refuse_to_replace(path)
    try:
        with disk.put_in_place(path) as aside:
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                yield file
    except OSError as error:
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error


def refuse_to_replace(path: Path) -> None:
    """Raises FileInTheWay where ``path`` is something already, a link to nothing too."""
    if os.path.lexists(path):
        raise FileInTheWay(path=str(path))


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
