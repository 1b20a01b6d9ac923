"""Making sure that nobody works in a home, and that nobody begins to, while it is exchanged."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from app.backup.errors import EngineInTheWay, HomeInUse, HomeNotReplaced, TrainingInTheWay
from configs.home import Home
from configs.locks import take_lock
from memory.database import primary_code
from memory.processes import lives


@contextmanager
def alone_in(home: Home) -> Iterator[None]:
    """Be the only process in ``home``.

    Raises EngineInTheWay, TrainingInTheWay, HomeInUse, HomeNotReplaced, OSError.

    Whoever opens the family's database meanwhile waits for it, and whoever starts an engine finds its locks taken,
    which are made where there are none yet.
    """
    with ExitStack() as stack:
        for path in (home.engine_starting, home.engine_lock) if home.root.exists() else ():
            lock = stack.enter_context(path.open("ab"))
            if not take_lock(lock):
                raise EngineInTheWay(path=str(home.root))
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
        code = primary_code(error)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise HomeInUse(path=str(home.root)) from error
        # Nobody can work with a damaged one, and a backup is what it takes; of any other that is not known.
        if code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise HomeNotReplaced(path=str(home.root), reason=str(error)) from error
