"""One SQLite file: how it is opened, how a transaction is made, and what its errors mean to a person."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

from configs.errors import EnlaceError
from memory.cipher import closed, connect, database_errors, opened, salt_of
from memory.clock import Clock
from memory.errors import DatabaseBusy, DatabaseDamaged, DatabaseFailed, DatabaseReadOnly, DiskFull
from memory.guard import Guard
from memory.migrations import Migrations

Row = sqlite3.Row
# The -shm file grows by this much (https://sqlite.org/walformat.html, 2.2).
_SHM_STEP_BYTES: Final = 32 * 1024


class Database:
    """A connection that the threads of one process share, one short call at a time.

    ``transaction()`` nests: the outermost one begins and commits. Everything raised is an EnlaceError.
    """

    def __init__(
        self,
        path: Path,
        migrations: Migrations,
        *,
        clock: Clock,
        busy_seconds: float,
        guard: Guard | None = None,
        key: Callable[[], str] | None = None,
    ) -> None:
        """Opens or creates ``path`` (readable by its owner alone) and brings it up to date.

        ``guard``: of a file that others may exchange or copy whole; ``key()``: what opens it, asked for while it is
        held, empty where the file is not encrypted. Raises DatabaseDamaged, DatabaseTooNew, DatabaseReadOnly,
        DatabaseBusy, DiskFull, EncryptionMissing, and what ``key`` does.
        """
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        self._depth = 0
        self._rests = self._closed = False
        self._guarded: Callable[[], AbstractContextManager[None]] = guard.shared if guard else nullcontext
        self._key = key
        self._migrations = migrations
        self._clock = clock
        self._open()

    def _open(self) -> None:
        with self._translated(), self._guarded():
            opens = self._key() if self._key else ""
            # Whoever writes into a plain file holds SQLite's locks, and those are enough.
            self._whole: Callable[[], AbstractContextManager[None]] = self._guarded if opens else nullcontext
            self._connection = self._connected(opens)
            self._closed = False
            opened(self.path, salt_of(self.path))
            try:
                self._set_up()
                self._migrations.apply(self._connection, self.path, self._clock)
            except BaseException:
                self._close()
                raise
        self._rests = False

    def rest(self) -> None:
        """Close the file until it is used again: then it is opened anew, and ``key`` asked for what opens it."""
        with self._lock:
            if not self._closed:
                self.close()
                self._rests = True

    @contextmanager
    def _used(self) -> Iterator[None]:
        with self._lock:
            if self._rests:
                self._open()
            yield

    def _connected(self, key: str) -> sqlite3.Connection:
        if key:
            encrypted: sqlite3.Connection = connect(self.path, key, self._busy_seconds)
            return encrypted
        _make_private(self.path)
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _set_up(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA foreign_keys = ON")
        _use_wal(self._connection, self._busy_seconds)
        # NORMAL would survive kill -9 as well, since written pages are the kernel's; but in WAL it syncs only at
        # checkpoints, so a power cut could take back a question that a person saw accepted. FULL syncs each commit.
        execute("PRAGMA synchronous = FULL")
        # What is forgotten, or taken back from the household, shall not stay readable in free pages of the file.
        execute("PRAGMA secure_delete = ON")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is committed together, or nothing is. Other writers wait from the first line on."""
        with self._used():
            if self._depth:
                yield
                return
            with self._whole(), self._begun():
                yield

    @contextmanager
    def _begun(self) -> Iterator[None]:
        with self._translated():
            # IMMEDIATE: a transaction that reads first and then writes cannot be refused half-way.
            self._connection.execute("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
            with self._translated():
                self._connection.execute("COMMIT")
        except BaseException:
            # SQLite has already rolled back by itself after some errors, a full disk among them.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """One writing statement; the number of rows it changed."""
        with self.transaction(), self._translated():
            return self._connection.execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One writing statement for each of ``rows``."""
        with self.transaction(), self._translated():
            self._connection.executemany(sql, rows)

    def insert(self, sql: str, values: Sequence[Any] = ()) -> int:
        """One INSERT; the row number of the new row."""
        with self.transaction(), self._translated():
            return int(self._connection.execute(sql, values).lastrowid or 0)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with self._used(), self._translated():
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, or None."""
        with self._used(), self._translated():
            cursor = self._connection.execute(sql, values)
            found: Row | None = cursor.fetchone()
            cursor.close()
            return found

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.row(sql, values)
        return None if found is None else found[0]

    def scrub(self) -> bool:
        """Leave nothing on the disk of what was deleted: neither in gaps inside pages nor in what was logged.

        The whole file is written anew, which takes time and as much room again. False where another connection still
        reads what there was: the last one to close finishes it. Raises DiskFull, DatabaseBusy.
        """
        with self._used(), self._translated(), self._whole():
            # Pages that were split or merged may keep a copy of a row between their cells, in spite of secure_delete.
            self._connection.execute("VACUUM")
            blocked: int = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            return not blocked

    def close(self) -> None:
        # The last one to close a file puts into it what is beside it.
        with self._lock, self._whole():
            self._rests = False
            self._close()

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connection.close()
            closed(self.path)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with translated(self.path, self._busy_seconds):
                yield
        except OSError as error:
            raise DatabaseReadOnly(path=str(self.path), reason=error.strerror or str(error)) from error


@contextmanager
def translated(path: Path, busy_seconds: float) -> Iterator[None]:
    """Have what SQLite says of the database ``path`` raised as what it means to a person."""
    try:
        yield
    except database_errors() as error:
        raise _meaning(error, path, busy_seconds) from error


def primary_code(error: Exception) -> int:
    """Which of SQLite's result codes an error is, 0 for one of Python's own.

    Extended codes keep the primary one in their low byte (https://sqlite.org/rescode.html).
    """
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _meaning(error: Exception, path: Path, busy_seconds: float) -> EnlaceError:
    code = primary_code(error)
    named, reason = str(path), str(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DatabaseDamaged(path=named, reason=reason)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return DiskFull(path=named)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DatabaseBusy(path=named, seconds=busy_seconds)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return DatabaseReadOnly(path=named, reason=reason)
    return DatabaseFailed(path=named, reason=reason)


def _no_room(path: Path) -> bool:
    """Whether not even the -shm can grow: of a full disk SQLite says FULL for pages, but IOERR for that file."""
    return shutil.disk_usage(path.parent).free < _SHM_STEP_BYTES


def _make_private(path: Path) -> None:
    """See to it that the file is there, readable by its owner alone. Raises OSError, also if it cannot be written.

    SQLite would let everybody read it that the umask allows; its -wal and -shm take after the file. A file that is
    there is not opened: closing it would drop the locks of this process's other connections to it
    (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None


def _use_wal(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch the file to WAL. Raises sqlite3.OperationalError when it stays locked for ``seconds``.

    SQLite does not wait for its busy timeout here when two processes switch the same new file at once.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except database_errors() as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
