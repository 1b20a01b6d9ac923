"""What the search remembers between calls: results for a while, and which services asked to be left alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from configs.sections.tools import SearchSettings

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
    """A small SQLite file, safe to lose: it is made anew where it is missing."""

    def __init__(self, path: Path, settings: SearchSettings, clock: Callable[[], float]) -> None:
        self._path = path
        self._settings = settings
        self._clock = clock

    def cached(self, key: str) -> tuple[Found, ...] | None:
        """The results stored under ``key`` that are still fresh."""
        oldest = self._clock() - self._settings.cache_hours * 3600
        with self._open() as database:
            row = database.execute(
                "SELECT found FROM results WHERE key = ? AND found_at BETWEEN ? AND ?", (key, oldest, self._clock())
            ).fetchone()
        return tuple(Found(**entry) for entry in json.loads(row[0])) if row else None

    def keep(self, key: str, found: Iterable[Found]) -> None:
        """Store results; the oldest leave when there are more than ``cache_entries``."""
        entries = json.dumps([asdict(entry) for entry in found], ensure_ascii=False)
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", (key, self._clock(), entries))
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

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)) as database, database:
            database.executescript(_SCHEMA)
            yield database
