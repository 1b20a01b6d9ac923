"""Copies of a home's databases as they all were at one moment, also while others write; and what a copy tells."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Container, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from configs.home import Home
from memory.cipher import given_salt, salt_in
from memory.database import primary_code, translated
from memory.errors import DatabaseDamaged, DiskFull
from memory.guard import Guard

ENDING: Final = ".db"
# What SQLite keeps beside a database and a copy does not need.
BESIDE: Final = ("-wal", "-shm", "-journal")
NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


@dataclass(frozen=True)
class Moment:
    """The databases of one home, each held as it was at the same moment. ``members``: the ids of who belongs to it.

    ``damaged``: those that cannot be held, because no database can be made out in them. ``sealed``: those that are
    encrypted; until they are copied, nobody writes into them.
    """

    members: frozenset[str]
    damaged: tuple[Path, ...]
    sealed: frozenset[Path]
    _held: Mapping[Path, sqlite3.Connection]
    _locks: Mapping[Path, ExitStack]

    @property
    def databases(self) -> list[Path]:
        """Their files: the family's first, then the encrypted ones, then the others by name."""
        family, *others = self._held
        return [family, *sorted(self.sealed), *others]

    def copy(self, path: Path, to: Path) -> None:
        """Write a copy of the database ``path`` to the new file ``to``, which is whole without any file beside it.

        But for an encrypted one: what was not put into it yet is copied too, into a file beside the copy. No process
        carries what was under way in it. Raises DatabaseDamaged and DiskFull.
        """
        if path in self.sealed:
            self._copy_sealed(path, to)
            return
        with translated(to, 0):
            target = sqlite3.connect(to, isolation_level=None)
        try:
            with translated(path, 0):
                # A copy that is cut off is thrown away: it needs neither a journal nor a sync for each page.
                target.execute("PRAGMA journal_mode = OFF")
                target.execute("PRAGMA synchronous = OFF")
                self._held[path].backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
                if _has(target, "runs"):
                    # The process that carries a run may live on beside the copy, and carries none there.
                    target.execute("UPDATE runs SET process = '' WHERE state = 'running'")
        except DiskFull as error:
            raise DiskFull(path=str(to.parent)) from error
        finally:
            target.close()

    def _copy_sealed(self, path: Path, to: Path) -> None:
        with self._locks[path]:
            for ending in ("", BESIDE[0]):
                source = path.with_name(path.name + ending)
                try:
                    if not ending or (source.exists() and source.stat().st_size):
                        shutil.copyfile(source, to.with_name(to.name + ending))
                except OSError as error:
                    if error.errno in NO_ROOM:
                        raise DiskFull(path=str(to.parent)) from error
                    raise DatabaseDamaged(path=str(path), reason=error.strerror or str(error)) from error


@contextmanager
def one_moment(home: Home, busy_seconds: float) -> Iterator[Moment]:
    """Hold every database of ``home`` as it is now, for reading; those who write to it go on.

    A lesson that is shared, or private again, is written in its new file before it leaves the old one. Nobody writes
    the family's file while the others are taken hold of: so each lesson is in one of the copies, at worst in two.
    Raises DatabaseBusy, DatabaseReadOnly, and DatabaseDamaged for the family's file.
    """
    with ExitStack() as stack:
        lock = stack.enter_context(_opened(home.family_db, busy_seconds))
        with translated(home.family_db, busy_seconds):
            _keep_others_from_writing(lock)
        held = {home.family_db: stack.enter_context(_reading(home.family_db, busy_seconds))}
        with translated(home.family_db, busy_seconds):
            rows = held[home.family_db].execute("SELECT id FROM members WHERE removed_at IS NULL").fetchall()
        members = frozenset(row[0] for row in rows)
        seals = _seals(held[home.family_db])
        damaged, locks = [], {}
        for path in [*_others(home), *sorted(map(home.member_db, members))]:
            if path.is_file():
                # While it is looked at, nobody puts another file in its place.
                guarded = stack.enter_context(_guarded(path, busy_seconds))
                salt = given_salt(path)
                if salt is not None and salt.hex() in seals:
                    locks[path] = guarded
                    continue
                try:
                    held[path] = stack.enter_context(_reading(path, busy_seconds))
                except DatabaseDamaged:
                    damaged.append(path)
                guarded.close()
        lock.close()
        yield Moment(members, tuple(damaged), frozenset(locks), held, locks)


@dataclass(frozen=True)
class Told:
    """What a copy of a database says. ``damage``: how its pages contradict each other, empty where they do not.

    ``migrations``: the steps that made its tables; ``current``: the id of the snapshot that answers, in the family's;
    ``artifacts``: digests of what its snapshots (but those given up) or a member's own adapters are made of; ``bases``:
    names and digests of the models under them, the current snapshot's first; ``answering``: those of ``artifacts`` that
    the current snapshot is made of. ``salt``: in hex, what a file begins with in which no database can be made out;
    ``seals``: the salts of encrypted files that the family's tells of.
    """

    damage: str
    migrations: frozenset[str]
    current: str | None
    artifacts: frozenset[str]
    bases: tuple[tuple[str, str], ...]
    answering: frozenset[str] = frozenset()
    salt: str = ""
    seals: frozenset[str] = frozenset()

    def contradicts(self, seals: Container[str]) -> bool:
        """Whether it is damaged; an encrypted one, of which ``seals`` tell, nobody can look into."""
        return bool(self.damage) and self.salt not in seals


def told_by(content: bytes) -> Told:
    """Read a copy, given whole, in memory alone: nothing is written, wherever it came from."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            # A file of no bytes is a database without tables, and what deserialize takes for a lack of memory.
            if content:
                connection.deserialize(content)
            found = "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check(3)"))
            if found != "ok":
                return Told(found, frozenset(), None, frozenset(), ())
            return _told(connection)
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            salt = (salt_in(content) or b"").hex()
            return Told(str(error) or type(error).__name__, frozenset(), None, frozenset(), (), salt=salt)


def _told(connection: sqlite3.Connection) -> Told:
    migrations, current = frozenset[str](), None
    artifacts: set[str] = set()
    answering: set[str] = set()
    bases: dict[tuple[str, str], None] = {}
    if _has(connection, "migrations"):
        migrations = frozenset(row[0] for row in connection.execute("SELECT name FROM migrations"))
    if _has(connection, "snapshots"):
        found = connection.execute("SELECT number FROM current_snapshot").fetchone()
        current = f"v{found[0]}" if found else None
        snapshots = _snapshots(connection)
        # An older version gave none of them up.
        for kept in (each for each in snapshots.values() if each.get("pruned_at") is None):
            own = {kept["digest"], *(str(each["sha256"]) for each in json.loads(kept["adapters"]))}
            artifacts |= own
            answering |= own if found and kept["number"] == found[0] else set()
            bases[kept["base_name"], kept["base_sha256"]] = None
            # A manifest names its parent's, also where that one's weights were given up.
            while (kept := snapshots.get(kept["parent"], {})) and kept["digest"] not in artifacts:
                artifacts.add(kept["digest"])
    if _has(connection, "private_adapters"):
        artifacts |= {row[0] for row in connection.execute("SELECT sha256 FROM private_adapters")}
    answers, seals = frozenset(answering), _seals(connection)
    return Told("", migrations, current, frozenset(artifacts), tuple(bases), answers, seals=seals)


def _seals(connection: sqlite3.Connection) -> frozenset[str]:
    rows = connection.execute("SELECT salt FROM seals") if _has(connection, "seals") else ()
    return frozenset(row[0] for row in rows)


def _snapshots(connection: sqlite3.Connection) -> dict[int, dict[str, Any]]:
    """Every snapshot by its number, the current one first, then the newest."""
    cursor = connection.execute(
        "SELECT * FROM snapshots ORDER BY number <> coalesce((SELECT number FROM current_snapshot), -1), number DESC"
    )
    columns = [column[0] for column in cursor.description]
    found = [dict(zip(columns, row, strict=True)) for row in cursor]
    return {each["number"]: each for each in found}


def _has(connection: sqlite3.Connection, table: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


def _others(home: Home) -> list[Path]:
    """Databases of the home beside the family's and the members', but for what is safe to lose."""
    return sorted(path for path in home.root.glob(f"*{ENDING}") if path not in (home.family_db, home.search_db))


@contextmanager
def _guarded(path: Path, busy_seconds: float) -> Iterator[ExitStack]:
    """Hold a file so that nobody exchanges it, nor writes into it if it is encrypted, until the stack is closed."""
    with ExitStack() as stack:
        # Where nothing can be written, nobody does.
        with contextlib.suppress(OSError):
            stack.enter_context(Guard(path, busy_seconds).alone())
        yield stack


def _keep_others_from_writing(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        # Where it cannot be written to, the others do not either.
        if primary_code(error) not in _REFUSED:
            raise


@contextmanager
def _opened(path: Path, busy_seconds: float, how: str = "mode=rw") -> Iterator[sqlite3.Connection]:
    with translated(path, busy_seconds):
        if _at_rest_and_not_ours_to_write(path):
            # SQLite would leave a -shm behind that can be written as little as the file, also once that one can be.
            how = "immutable=1"
        address = f"file:{quote(str(path))}?{how}"
        connection = sqlite3.connect(address, uri=True, timeout=busy_seconds, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _at_rest_and_not_ours_to_write(path: Path) -> bool:
    """Whether a file can only be read and nobody has it open, who would have made a -shm for it."""
    beside = [path.with_name(path.name + ending) for ending in BESIDE]
    return path.is_file() and not os.access(path, os.W_OK) and not any(each.exists() for each in beside)


@contextmanager
def _reading(path: Path, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    """The database inside a transaction that reads: what it sees stays as it is."""
    with ExitStack() as stack:
        connection = stack.enter_context(_opened(path, busy_seconds))
        with translated(path, busy_seconds):
            try:
                _begin_reading(connection)
            except sqlite3.OperationalError as error:
                wal = path.with_name(path.name + BESIDE[0])
                if primary_code(error) not in _REFUSED or (wal.is_file() and wal.stat().st_size):
                    raise
                # Where nothing can be written SQLite cannot make the -shm that a database in WAL is read with; but
                # then nobody writes, and all there is, is in the file (https://sqlite.org/wal.html, 10).
                connection = stack.enter_context(_opened(path, busy_seconds, "immutable=1"))
                _begin_reading(connection)
        yield connection


def _begin_reading(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
