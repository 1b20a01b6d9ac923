"""Files as they are on the disk: which there are, what they hold, and whether that changed while it was read."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.documents.errors import DocumentChanging, DocumentTooLarge, DocumentUnreadable
from memory.documents.formats import format_of

_MB: Final = 1_000_000


@dataclass(frozen=True)
class Facts:
    """What tells that a file is as it was, without reading it."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int


@dataclass(frozen=True)
class Content:
    """The bytes of a file, as it was as a whole at one moment."""

    content: bytes
    sha256: str
    facts: Facts


def facts_of(path: Path) -> Facts | None:
    """None where no plain file is there. Raises DocumentUnreadable where nobody may look."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DocumentUnreadable(reason=error.strerror or str(error)) from error
    return _facts(found) if stat.S_ISREG(found.st_mode) else None


def content_of(path: Path, largest_mb: int, tries: int) -> Content | None:
    """The file's bytes; None where none is there. One that changes meanwhile is read again, so many times.

    Raises DocumentTooLarge before it reads any of it, DocumentUnreadable, DocumentChanging.
    """
    for _ in range(tries):
        before = facts_of(path)
        if before is None:
            return None
        if before.size > largest_mb * _MB:
            raise DocumentTooLarge(size=before.size // _MB, limit=largest_mb)
        try:
            with path.open("rb") as file:
                content = file.read(largest_mb * _MB + 1)
                held = _facts(os.fstat(file.fileno()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DocumentUnreadable(reason=error.strerror or str(error)) from error
        # Of the same name there may be another file by now, which was moved into the place of this one.
        if before == held == facts_of(path) and len(content) == held.size:
            return Content(content, hashlib.sha256(content).hexdigest(), held)
    raise DocumentChanging(tries=tries)


def walk(source: Path) -> Iterator[Path]:
    """Every file below a folder that can be read by its name, by name; nothing hidden, and no folder twice."""
    for folder, below, names in os.walk(source):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            # A file that begins so is one that a program is just writing, or a lock of it.
            if not name.startswith((".", "~$")) and format_of(path) is not None:
                yield path


def _facts(found: os.stat_result) -> Facts:
    return Facts(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
