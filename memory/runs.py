"""Runs of the trainer: one at a time in a household, and none that seems to run when its process is dead."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from configs.home import Home
from memory.clock import Clock
from memory.database import Database, Row
from memory.errors import MemberUnknown, PrivateRunRunning, RunAlreadyRunning, RunUnknown
from memory.numbered import number_in
from memory.processes import identity, lives
from memory.text import storable

State = Literal["running", "shipped", "held", "done", "failed", "stopped"]
# Kinds: a training of the shared lessons in force, one of a member's private lessons, a search for the lesson for which
# one of the shared ones was held, and a training that is done again to see whether the same comes of it.
LESSONS, PRIVATE, BLAME, REPRODUCE = "lessons", "private", "blame", "reproduce"


@dataclass(frozen=True)
class Run:
    """``id`` names its folder in ``runs/``; ``snapshot``: what it made; times in seconds since 1970.

    ``kind``: LESSONS or PRIVATE, which end as shipped or held, or BLAME or REPRODUCE, which end as done.
    ``member``: whose private lessons it trains, an id; None for the family's.
    """

    id: str
    kind: str
    state: State
    started_at: float
    ended_at: float | None
    snapshot: str | None
    summary: dict[str, Any]
    member: str | None = None

    def is_for(self, member: str | None) -> bool:
        """Whether ``member`` (an id) may be told of it: it is the family's or their own."""
        return self.member in (None, member)


class Runs:
    """The runs of one household."""

    def __init__(self, family: Database, clock: Clock) -> None:
        self._family = family
        self._clock = clock

    def create(self, kind: str, *, member: str | None = None, pid: int | None = None) -> Run:
        """Begin a run that process ``pid`` (this one by default) carries, for the family or for one ``member``.

        Raises RunAlreadyRunning and MemberUnknown.
        """
        with self._family.transaction():
            there = "SELECT 1 FROM members WHERE id = ? AND removed_at IS NULL"
            if member is not None and self._family.row(there, (member,)) is None:
                raise MemberUnknown(name=member)
            now = self._clock()
            for row in self._family.rows("SELECT * FROM runs WHERE state = 'running'"):
                if lives(row["process"]):
                    raise in_the_way(_run(row), member)
                self._family.run(
                    "UPDATE runs SET state = 'stopped', ended_at = ? WHERE number = ?", (now, row["number"])
                )
            number = self._family.insert(
                "INSERT INTO runs (kind, state, process, started_at, member) VALUES (?, 'running', ?, ?, ?)",
                (kind, identity(os.getpid() if pid is None else pid), now, member),
            )
            return self.get(_id(number))

    def upcoming(self, kind: str, member: str | None = None) -> Run:
        """What the next run would be, which nothing begins."""
        number = 1 + (self._family.value("SELECT max(number) FROM runs") or 0)
        return Run(_id(number), kind, "running", self._clock(), None, None, {}, member)

    def give(self, run_id: str, lessons: Iterable[str]) -> None:
        """Put on record which lessons, by id, a run trains. Raises RunUnknown."""
        number = number_in(self.get(run_id).id, "r")
        with self._family.transaction():
            for lesson in lessons:
                self._family.run("INSERT OR IGNORE INTO run_lessons (run, lesson) VALUES (?, ?)", (number, lesson))

    def lessons(self, run_id: str) -> frozenset[str]:
        """The ids of the lessons that a run trains; none for a run that is not on record."""
        rows = self._family.rows("SELECT lesson FROM run_lessons WHERE run = ?", (number_in(run_id, "r"),))
        return frozenset(row["lesson"] for row in rows)

    def taken_back(self) -> dict[str, frozenset[str]]:
        """For each run, those of its lessons that were withdrawn since, are not shared any more, or wait since then."""
        found: dict[str, set[str]] = {}
        for row in self._family.rows(
            "SELECT run, lesson FROM run_lessons WHERE lesson NOT IN (SELECT id FROM lessons WHERE status = 'active')"
            " OR lesson IN (SELECT id FROM lessons_waiting)"
        ):
            found.setdefault(_id(row["run"]), set()).add(row["lesson"])
        return {run: frozenset(lessons) for run, lessons in found.items()}

    def judged_lessons(self) -> frozenset[str]:
        """The ids of the shared lessons that some training came to a verdict on, whichever it was."""
        rows = self._family.rows(
            "SELECT DISTINCT lesson FROM run_lessons JOIN runs ON run = number"
            " WHERE kind = ? AND state IN ('shipped', 'held')",
            (LESSONS,),
        )
        return frozenset(row["lesson"] for row in rows)

    def judged_for(self, member: str) -> tuple[Run, ...]:
        """The trainings of a member's private lessons that came to a verdict, the newest first."""
        rows = self._family.rows(
            "SELECT * FROM runs WHERE member = ? AND kind = ? AND state IN ('shipped', 'held') ORDER BY number DESC",
            (member, PRIVATE),
        )
        return tuple(map(_run, rows))

    def last_judged(self) -> str:
        """The id of the last training of the shared lessons that came to a verdict; empty where none did."""
        judged = "SELECT max(number) FROM runs WHERE kind = ? AND state IN ('shipped', 'held')"
        number = self._family.value(judged, (LESSONS,))
        return "" if number is None else _id(number)

    def finish(
        self, run_id: str, state: State, *, snapshot: str | None = None, summary: Mapping[str, Any] | None = None
    ) -> Run:
        """End a run; what it is then. Raises RunUnknown."""
        values = (
            state,
            self._clock(),
            None if snapshot is None else storable(snapshot),
            json.dumps(summary or {}),
            number_in(run_id, "r"),
        )
        changed = self._family.run(
            "UPDATE runs SET state = ?, ended_at = ?, snapshot = ?, summary = ? WHERE number = ?", values
        )
        if not changed:
            raise RunUnknown(id=run_id)
        return self.get(run_id)

    def judge(self, run_id: str, summary: Mapping[str, Any]) -> None:
        """Put on record what a run has come to that goes on: what is missing then is what was made of it."""
        self._family.run("UPDATE runs SET summary = ? WHERE number = ?", (json.dumps(summary), number_in(run_id, "r")))

    def overrule(self, run_id: str, snapshot: str, summary: Mapping[str, Any], at: float | None = None) -> Run:
        """A run that ended otherwise has shipped after all; what it is then. It ended when it ended; where it could not
        write that, ``at``. Raises RunUnknown.
        """
        values = (storable(snapshot), json.dumps(summary), at, number_in(self.get(run_id).id, "r"))
        self._family.run(
            "UPDATE runs SET state = 'shipped', snapshot = ?, summary = ?, ended_at = coalesce(ended_at, ?)"
            " WHERE number = ?",
            values,
        )
        return self.get(run_id)

    def list(self, seen_by: str | None = None, limit: int = 50) -> list[Run]:
        """The family's runs and those of the member ``seen_by`` (an id), the newest first."""
        rows = self._family.rows(
            "SELECT * FROM runs WHERE member IS NULL OR member = ? ORDER BY number DESC LIMIT ?", (seen_by, limit)
        )
        return [_run(row) for row in rows]

    def get(self, run_id: str) -> Run:
        """Raises RunUnknown."""
        row = self._family.row("SELECT * FROM runs WHERE number = ?", (number_in(run_id, "r"),))
        if row is None:
            raise RunUnknown(id=run_id)
        return _run(row)

    def seen(self, run_id: str, seen_by: str) -> Run:
        """The same, for what it did to be told to a member: of another member's, nobody is told. Raises RunUnknown."""
        run = self.get(run_id)
        if not run.is_for(seen_by):
            raise RunUnknown(id=run_id)
        return run

    def latest(self, seen_by: str | None = None) -> Run | None:
        """The run that was begun last, of those that ``list`` has."""
        runs = self.list(seen_by, 1)
        return runs[0] if runs else None

    def before(self, run: Run) -> Run | None:
        """The run of the same kind before this one for the same: the family, or one member."""
        row = self._family.row(
            "SELECT * FROM runs WHERE member IS ? AND kind = ? AND number < ? ORDER BY number DESC LIMIT 1",
            (run.member, run.kind, number_in(run.id, "r")),
        )
        return None if row is None else _run(row)

    def shipped_before(self, run: Run) -> Iterator[Run]:
        """The runs of the same kind before this one for the same of which something was promoted, the newest first."""
        rows = self._family.rows(
            "SELECT * FROM runs WHERE member IS ? AND kind = ? AND number < ? AND state = 'shipped'"
            " ORDER BY number DESC",
            (run.member, run.kind, number_in(run.id, "r")),
        )
        return map(_run, rows)

    def carried_by(self, process: str) -> Run | None:
        """The run that the process with this identity (``memory.processes``) began last, alive or not."""
        row = self._family.row("SELECT * FROM runs WHERE process = ? ORDER BY number DESC LIMIT 1", (process,))
        return None if row is None else _run(row)

    def running(self) -> Run | None:
        """The run whose process works right now."""
        row = self._family.row("SELECT * FROM runs WHERE state = 'running'")
        run = None if row is None else _run(row)
        return run if run is not None and run.state == "running" else None

    def pid(self, run_id: str) -> int | None:
        """The process that carries a run and still lives. Raises RunUnknown."""
        row = self._family.row("SELECT process FROM runs WHERE number = ?", (number_in(run_id, "r"),))
        if row is None:
            raise RunUnknown(id=run_id)
        return int(row["process"].split(":")[1]) if lives(row["process"]) else None


def in_the_way(run: Run, member: str | None) -> RunAlreadyRunning:
    """What to tell a ``member`` (an id) of a run that keeps theirs from beginning."""
    return RunAlreadyRunning(id=run.id) if run.is_for(member) else PrivateRunRunning()


def run_folder(home: Home, run: Run) -> Path:
    """Where a run writes what it does: in the home, or in the part of the member whose private lessons it trains."""
    place = home if run.member is None else home.of_member(run.member)
    return place.runs / run.id


def _id(number: int) -> str:
    return f"r{number:04d}"


def _run(row: Row) -> Run:
    # A killed run could not write its own end: its state follows from its process.
    dead = row["state"] == "running" and not lives(row["process"])
    return Run(
        _id(row["number"]),
        row["kind"],
        "stopped" if dead else row["state"],
        row["started_at"],
        row["ended_at"],
        row["snapshot"],
        json.loads(row["summary"]),
        row["member"],
    )
