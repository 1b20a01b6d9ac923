"""Making sure that nobody works in a home, and that nobody begins to, while it is exchanged."""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from app.backup.errors import EngineInTheWay, HomeInUse, TrainingInTheWay
from configs.home import Home
from memory.processes import lives


@contextmanager
def alone_in(home: Home) -> Iterator[None]:
    """Be the only process in ``home``. Raises EngineInTheWay, TrainingInTheWay, HomeInUse, OSError.

    Whoever opens the family's database meanwhile waits for it, and an engine that starts finds its lock taken.
    """
    with ExitStack() as stack:
        if home.engine_lock.exists():
            lock = stack.enter_context(home.engine_lock.open("rb"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise EngineInTheWay(path=str(home.root)) from error
        if home.family_db.is_file():
            connection = stack.enter_context(
                contextlib.closing(sqlite3.connect(home.family_db, timeout=0, isolation_level=None))
            )
            _have_alone(home, connection)
        yield


def _have_alone(home: Home, connection: sqlite3.Connection) -> None:
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            for (process,) in connection.execute("SELECT process FROM runs WHERE state = 'running'").fetchall():
                if lives(process):
                    raise TrainingInTheWay(path=str(home.root))
        # SQLite leaves WAL only where no other connection is open, at rest or not (https://sqlite.org/wal.html, 3.3).
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise HomeInUse(path=str(home.root)) from error
        # It is damaged: nobody can work with it, and a backup is what it takes.
