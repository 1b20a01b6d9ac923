"""Files that appear whole or not at all, readable by their owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import FileNotWritten


def write_whole(path: Path, content: str | bytes) -> None:
    """Write ``content``, a text in UTF-8, aside and put it in the place of ``path``. Raises FileNotWritten."""
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", errors="replace"))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error
