"""What the search remembers between calls: results for a while, and which services asked to be left alone."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from configs.sections.tools import SearchSettings
from tools.errors import SearchFailed

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, found_at REAL NOT NULL, found TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS pauses (backend TEXT PRIMARY KEY, until REAL NOT NULL, pause_s REAL NOT NULL) STRICT;
"""
_BUSY_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True)
class Found:
    """One result of a search, cleaned."""

    title: str
    url: str
    excerpt: str


class SearchStore:
    """A small SQLite file, safe to lose: it is made anew where it is missing or damaged.

    The whole household uses it, so it keeps no question: what is asked goes in as its digest, and what was found
    goes out when it is no longer fresh. Every method raises SearchFailed where the file cannot be used.
    """

    def __init__(self, path: Path, settings: SearchSettings, clock: Callable[[], float]) -> None:
        self._path = path
        self._settings = settings
        self._clock = clock

    def cached(self, asked: str) -> tuple[Found, ...] | None:
        """The results stored for what was ``asked`` that are still fresh."""
        with self._open() as database:
            row = database.execute(
                "SELECT found FROM results WHERE key = ? AND found_at BETWEEN ? AND ?",
                (_digest(asked), self._oldest(), self._clock()),
            ).fetchone()
        return tuple(Found(**entry) for entry in json.loads(row[0])) if row else None

    def keep(self, asked: str, found: Iterable[Found]) -> None:
        """Store results; what is no longer fresh leaves, and the oldest beyond ``cache_entries``."""
        entries = json.dumps([asdict(entry) for entry in found], ensure_ascii=False)
        values = (_digest(asked), self._clock(), entries)
        with self._open() as database:
            database.execute("DELETE FROM results WHERE found_at < ?", (self._oldest(),))
            database.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", values)
            database.execute(
                "DELETE FROM results WHERE key NOT IN (SELECT key FROM results ORDER BY found_at DESC LIMIT ?)",
                (self._settings.cache_entries,),
            )

    def pauses(self) -> dict[str, float]:
        """The seconds for which each paused service is still to be left alone."""
        now = self._clock()
        with self._open() as database:
            rows = database.execute("SELECT backend, until FROM pauses WHERE until > ?", (now,)).fetchall()
        # A clock that was set back must not leave a service paused for ever.
        return {backend: min(until - now, self._settings.longest_pause_s) for backend, until in rows}

    def refused(self, backend: str) -> None:
        """Note a refusal: the next pause is twice the last one."""
        with self._open() as database:
            row = database.execute("SELECT pause_s FROM pauses WHERE backend = ?", (backend,)).fetchone()
            pause = min(row[0] * 2 if row else self._settings.first_pause_s, self._settings.longest_pause_s)
            database.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?, ?)", (backend, self._clock() + pause, pause))

    def answered(self, backend: str) -> None:
        """Note an answer: the service is no longer paused."""
        with self._open() as database:
            database.execute("DELETE FROM pauses WHERE backend = ?", (backend,))

    def _oldest(self) -> float:
        return self._clock() - self._settings.cache_hours * 3600

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.touch(mode=0o600)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)) as database, database:
                database.execute("PRAGMA secure_delete = ON")
                database.executescript(_SCHEMA)
                yield database
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                self._path.unlink(missing_ok=True)
            raise SearchFailed(reason=str(error)) from error


def _digest(asked: str) -> str:
    return hashlib.sha256(asked.encode(errors="replace")).hexdigest()
