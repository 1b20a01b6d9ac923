"""Numbered steps (``<kind>/0001_*.sql``) that bring a database file up to date, each in one transaction.

What both kinds of files have is written once, in ``both/``; a step takes it in with a line ``.read both/NAME.sql``, as
SQLite's own shell would.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.clock import Clock
from memory.errors import DatabaseTooNew

FOLDER = Path(__file__).parent
KINDS = ("family", "member")
_READ = ".read "


@dataclass(frozen=True)
class Migrations:
    """The steps of one kind of database: ``family`` or ``member``."""

    kind: str

    def steps(self) -> list[Path]:
        """The SQL files in the order in which they are applied."""
        return sorted((FOLDER / self.kind).glob("*.sql"))

    def apply(self, connection: sqlite3.Connection, path: Path, clock: Clock) -> None:
        """Apply what ``path`` lacks. Raises DatabaseTooNew, and sqlite3.Error with the last step undone."""
        steps = self.steps()
        if self._missing(connection, path, steps):
            for step in steps:
                self._apply_one(connection, path, steps, step, clock)

    def _missing(self, connection: sqlite3.Connection, path: Path, steps: list[Path]) -> list[str]:
        known = {step.stem for step in steps}
        table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
        applied = {row[0] for row in connection.execute("SELECT name FROM migrations")} if table else set()
        if unknown := sorted(applied - known):
            raise DatabaseTooNew(path=str(path), migration=unknown[-1])
        return sorted(known - applied)

    def _apply_one(
        self, connection: sqlite3.Connection, path: Path, steps: list[Path], step: Path, clock: Clock
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have opened the same new home at the same time.
            if step.stem in self._missing(connection, path, steps):
                connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL)")
                for statement in statements(script_of(step)):
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (step.stem, clock()))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def script_of(step: Path) -> str:
    """The SQL of a step, with what it takes in where the line is that names it."""
    lines = step.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(
        script_of(FOLDER / line.removeprefix(_READ).strip()) if line.startswith(_READ) else line for line in lines
    )


def newer(steps: Iterable[str]) -> str | None:
    """The last of these steps that this version of Enlace does not know; None where it knows them all."""
    known = {step.stem for kind in KINDS for step in Migrations(kind).steps()}
    return max(set(steps) - known, default=None)


def statements(script: str) -> Iterator[str]:
    """The single statements of a script; sqlite3's executescript would commit the transaction they are in."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise ValueError(f"a migration ends inside a statement: {pending.strip()[:80]}")
