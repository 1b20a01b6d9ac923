"""Text files that appear whole or not at all, readable by their owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import FileNotWritten


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` aside in UTF-8 and put it in the place of ``path``. Raises FileNotWritten."""
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error
