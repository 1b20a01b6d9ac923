"""A member's private training: the lessons for it, the adapters that came of it, and which of them answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.clock import Clock
from memory.database import Database, Row
from memory.errors import NoPrivateAdapter
from memory.in_force import corrections_in, ratings_in
from memory.learned import Learned
from memory.lessons import Lesson
from memory.made import MadeRecords
from memory.manifests import Adapter, adapter_list, read_adapters
from memory.numbered import number_in
from memory.snapshots import Snapshot


@dataclass(frozen=True)
class PrivateRecord:
    """``id``: "p1"…; ``sha256`` and ``bytes``: of the file; ``snapshot``: the family's that it was trained over.

    ``base_sha256`` and ``adapters``: what that snapshot is made of. ``previous``: the id of what was in force before.
    """

    id: str
    sha256: str
    bytes: int
    snapshot: str
    base_sha256: str
    adapters: tuple[Adapter, ...]
    previous: str | None
    run: str
    gate: dict[str, Any]
    created_at: float

    def belongs_to(self, snapshot: Snapshot) -> bool:
        """Whether it was trained over this base and these adapters: over others it is another function."""
        return (self.base_sha256, self.adapters) == (snapshot.base_sha256, snapshot.adapters)


Records = list[PrivateRecord]  # inside the class, `list` is its method
Lessons = list[Lesson]


class PrivateTraining:
    """Of one member: in the member's file and the member's part of the home alone."""

    def __init__(
        self,
        database: Database,
        artifacts: ArtifactStore,
        made: MadeRecords,
        clock: Clock,
        family: Callable[[], Snapshot | None],
    ) -> None:
        """``family``: the snapshot that the family is answered with, if any."""
        self._database = database
        self._family = family
        self.learned = Learned(database, self._answering_number)
        self.artifacts = artifacts
        self.made = made
        self._clock = clock

    def corrections(self) -> Lessons:
        """The private lessons that were not withdrawn, oldest first; of one question there may be several."""
        return corrections_in(self._database, "private")

    def ratings(self) -> Lessons:
        """The private thumbs, oldest first, but for those on questions that were corrected in private."""
        return ratings_in(self._database, "private")

    def path(self, sha256: str) -> Path:
        """The file of an adapter, verified. Raises ArtifactMissing, ArtifactDamaged."""
        self.artifacts.verify(sha256)
        return self.artifacts.path(sha256)

    def current(self) -> PrivateRecord | None:
        """What is in force, whether or not it belongs to the family's current snapshot."""
        number = self._number()
        return None if number is None else self._get(number)

    def answering(self, snapshot: Snapshot) -> PrivateRecord | None:
        """What this member's questions are answered with while ``snapshot`` is the family's, if anything."""
        current = self.current()
        return current if current is not None and current.belongs_to(snapshot) else None

    def list(self) -> Records:
        """All of them, the newest first."""
        return [_record(row) for row in self._database.rows("SELECT * FROM private_adapters ORDER BY number DESC")]

    def latest(self) -> PrivateRecord | None:
        """What was put in force last, whatever is now."""
        row = self._database.row("SELECT * FROM private_adapters ORDER BY number DESC LIMIT 1")
        return None if row is None else _record(row)

    def promote(self, file: Path, over: Snapshot, run: str, gate: Mapping[str, Any]) -> PrivateRecord:
        """Keep the adapter in ``file``, trained over a snapshot, and have it in force. Raises DiskFull, OSError."""
        digest = self.artifacts.put_file(file)
        with self._database.transaction():
            values = (
                digest,
                file.stat().st_size,
                over.id,
                over.base_sha256,
                json.dumps(adapter_list(over.adapters)),
                self._number(),
                run,
                json.dumps(gate),
                self._clock(),
            )
            number = self._database.insert(
                "INSERT INTO private_adapters (sha256, bytes, snapshot, base_sha256, adapters, previous, run, gate,"
                " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            self._put_in_force(number)
            return self._get(number)

    def rollback(self) -> tuple[PrivateRecord, PrivateRecord | None]:
        """Go back to what was in force before the current one, which may be none; both. Raises NoPrivateAdapter.

        What knows a lesson that was taken back since is passed over.
        """
        with self._database.transaction():
            left = self.current()
            if left is None:
                raise NoPrivateAdapter
            taken_back, back = self.taken_back(), self._before(left)
            while back is not None and back.run in taken_back:
                back = self._before(back)
            self._put_in_force(None if back is None else number_in(back.id, "p"))
            return left, back

    def leave(self) -> PrivateRecord | None:
        """Have none in force; what was, if anything."""
        with self._database.transaction():
            left = self.current()
            self._put_in_force(None)
            return left

    def forget_all(self) -> None:
        """Have no adapter in force, nor any on record, nor what trained them."""
        if self._database.row("SELECT 1 FROM private_adapters UNION ALL SELECT 1 FROM run_lessons"):
            with self._database.transaction():
                self._put_in_force(None)
                self._database.run("DELETE FROM private_adapters")
                self._database.run("DELETE FROM run_lessons")

    def give(self, run: str, lessons: Iterable[str]) -> None:
        """Put on record which private lessons, by id, a run trains."""
        with self._database.transaction():
            for lesson in lessons:
                self._database.run("INSERT OR IGNORE INTO run_lessons (run, lesson) VALUES (?, ?)", (run, lesson))

    def lessons(self, run: str) -> frozenset[str]:
        """The ids of the private lessons that a run trains."""
        rows = self._database.rows("SELECT lesson FROM run_lessons WHERE run = ?", (run,))
        return frozenset(row["lesson"] for row in rows)

    def taken_back(self) -> dict[str, frozenset[str]]:
        """For each run, those of its lessons that were withdrawn since, or are not private any more."""
        found: dict[str, set[str]] = {}
        for row in self._database.rows(
            "SELECT run, lesson FROM run_lessons WHERE lesson NOT IN (SELECT id FROM lessons WHERE status = 'active')"
        ):
            found.setdefault(row["run"], set()).add(row["lesson"])
        return {run: frozenset(lessons) for run, lessons in found.items()}

    def _answering_number(self) -> int | None:
        family = self._family()
        record = None if family is None else self.answering(family)
        return None if record is None else number_in(record.id, "p")

    def _number(self) -> int | None:
        number: int | None = self._database.value("SELECT number FROM current_private_adapter")
        return number

    def _before(self, record: PrivateRecord) -> PrivateRecord | None:
        return None if record.previous is None else self._get(number_in(record.previous, "p"))

    def _get(self, number: int) -> PrivateRecord:
        (row,) = self._database.rows("SELECT * FROM private_adapters WHERE number = ?", (number,))
        return _record(row)

    def _put_in_force(self, number: int | None) -> None:
        if number is None:
            self._database.run("DELETE FROM current_private_adapter")
        else:
            self._database.run("INSERT OR REPLACE INTO current_private_adapter (only, number) VALUES (1, ?)", (number,))


@dataclass(frozen=True)
class KeptApart:
    """What lies in a member's part of the home: bytes of adapters, and when the latest came (seconds since 1970)."""

    bytes: int
    changed_at: float


def kept_apart(home: Home, member_id: str) -> KeptApart | None:
    """Size and time of a member's own adapters, for whoever looks after the machine: nobody's file is opened."""
    store = home.of_member(member_id).store
    found = [path.stat() for path in store.glob("sha256/*/*") if path.is_file()]
    return KeptApart(sum(f.st_size for f in found), max(f.st_mtime for f in found)) if found else None


def _record(row: Row) -> PrivateRecord:
    return PrivateRecord(
        f"p{row['number']}",
        row["sha256"],
        row["bytes"],
        row["snapshot"],
        row["base_sha256"],
        read_adapters(json.loads(row["adapters"])),
        None if row["previous"] is None else f"p{row['previous']}",
        row["run"],
        json.loads(row["gate"]),
        row["created_at"],
    )
