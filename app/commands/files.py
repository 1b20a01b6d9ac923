"""Files that commands write for people: whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from memory.errors import FileNotWritten


def write_file(path: Path, text: str) -> None:
    """Write ``text`` aside and put it in the place of ``path``. Raises FileNotWritten."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with aside.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error
