"""What a member exports: whole or not there, and readable by its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from configs import disk
from memory.errors import FileInTheWay, FileNotWritten


def write_whole(path: Path, content: str | bytes) -> None:
    """``configs.disk.write_whole`` of bytes, or of a text in UTF-8. Raises FileNotWritten."""
    try:
        disk.write_whole(path, content if isinstance(content, bytes) else content.encode("utf-8", errors="replace"))
    except OSError as error:
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error


def write_new(path: Path, content: str | bytes) -> None:
    """``write_whole`` into a file that somebody named, in the place of nothing. Raises FileInTheWay, FileNotWritten."""
    refuse_to_replace(path)
    write_whole(path, content)


def refuse_to_replace(path: Path) -> None:
    """Raises FileInTheWay where ``path`` is something already, a link to nothing too."""
    if os.path.lexists(path):
        raise FileInTheWay(path=str(path))
