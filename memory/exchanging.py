"""A member's file written anew, encrypted, with another key, or plain, and put in its place in one step.

At every instant one whole file of that name is there. What is written beside it is encrypted too where the result is;
a plain one that was not finished is removed when the home is opened next.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from configs.disk import sync
from memory.cipher import connect, database_errors, is_open_here, module
from memory.copies import BESIDE
from memory.database import primary_code, translated
from memory.entrance_errors import MemberFileOpen
from memory.errors import DatabaseBusy, DatabaseDamaged
from memory.guard import Guard

_ENDING: Final = ".exchanged"
_COUNTS: Final = ("SELECT count(*) FROM main.sqlite_master", "SELECT count(*) FROM beside.sqlite_master")
_BLOCK: Final = 1 << 20
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def exchange(path: Path, old: str, new: str, name: str, busy_seconds: float) -> None:
    """Have the database ``path``, opened with the key ``old``, become one that ``new`` opens; "" is a plain one.

    ``name``: whose it is. Nobody may have it open, this process neither. Raises MemberFileOpen, EncryptionMissing,
    DatabaseBusy, DatabaseDamaged, DiskFull; then it is what it was.
    """
    module()
    if is_open_here(path):
        raise MemberFileOpen(name=name)
    part = _part(path)
    with Guard(path, busy_seconds).alone(), _kept(path, old, name) as connection:
        try:
            _write(connection, path, part, new)
            # Held until the connection is closed: to close it drops the locks on what is now no file of any name.
            handle = os.open(path, os.O_RDWR)
            try:
                part.replace(path)
                sync(path.parent)
                if not old:
                    _overwrite(handle)
                connection.close()
            finally:
                os.close(handle)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def leaving_no_log(path: Path) -> Iterator[None]:
    """Write zeros over what the log of the plain database ``path`` held, once it is no more; begin while that is open.

    Logs of earlier openings went with them: their blocks are in no file any more.
    """
    log = path.with_name(path.name + BESIDE[0])
    try:
        handle = os.open(log, os.O_RDWR)
    except FileNotFoundError:
        yield
        return
    try:
        yield
        _overwrite(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what an exchange left that was killed; one that is under way is left alone."""
    for part in folder.glob(f".*{_ENDING}"):
        path = folder / part.name.removeprefix(".").removesuffix(_ENDING)
        with contextlib.suppress(OSError, DatabaseBusy), Guard(path, 0).alone():
            part.unlink(missing_ok=True)


def _part(path: Path) -> Path:
    """Hidden, so that no backup takes it."""
    return path.with_name(f".{path.name}{_ENDING}")


@contextmanager
def _kept(path: Path, key: str, name: str) -> Iterator[Any]:
    """A connection that nobody else has one beside, until it is closed."""
    with translated(path, 0):
        connection = connect(path, key, 0)
        try:
            try:
                # SQLite leaves WAL only where no other connection is open, at rest or not.
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("COMMIT")
            except database_errors() as error:
                if primary_code(error) in _BUSY:
                    raise MemberFileOpen(name=name) from error
                raise
            for ending in BESIDE:
                path.with_name(path.name + ending).unlink(missing_ok=True)
            yield connection
        finally:
            connection.close()


def _write(connection: Any, path: Path, part: Path, key: str) -> None:
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection.execute("ATTACH ? AS beside KEY ?", (str(part), key))
    # What is cut off is thrown away.
    connection.execute("PRAGMA beside.journal_mode = OFF")
    connection.execute("PRAGMA beside.synchronous = OFF")
    connection.execute("SELECT sqlcipher_export('beside')")
    found = connection.execute("PRAGMA beside.integrity_check(1)").fetchone()[0]
    counts = [connection.execute(count).fetchone()[0] for count in _COUNTS]
    if found != "ok" or counts[0] != counts[1]:
        raise DatabaseDamaged(path=str(path), reason=str(found))
    connection.execute("DETACH beside")
    with part.open("rb+") as file:
        os.fsync(file.fileno())


def _overwrite(handle: int) -> None:
    """Write zeros over what was plain: what disks and file systems that copy keep of it, nobody here can reach."""
    left = os.fstat(handle).st_size
    os.lseek(handle, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(handle, bytes(min(left, _BLOCK)))
    os.fsync(handle)
