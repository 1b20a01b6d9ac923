"""What a member exports: whole or not there, and readable by its owner alone."""

from __future__ import annotations

from pathlib import Path

from configs import disk
from memory.errors import FileNotWritten


def write_whole(path: Path, content: str | bytes) -> None:
    """``configs.disk.write_whole`` of bytes, or of a text in UTF-8. Raises FileNotWritten."""
    try:
        disk.write_whole(path, content if isinstance(content, bytes) else content.encode("utf-8", errors="replace"))
    except OSError as error:
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error
