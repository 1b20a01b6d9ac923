"""Snapshots of the weights: which there are, which one answers, and every move from one to another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.artifacts import ArtifactStore
from memory.clock import Clock
from memory.database import Database, Row
from memory.errors import NoSnapshot, NothingToRollBack, SnapshotPruned, SnapshotUnknown
from memory.manifests import Adapter, adapter_list, manifest_bytes, read_adapters
from memory.moves import Kind, Move, add_move, read_moves
from memory.numbered import number_in


@dataclass(frozen=True)
class Snapshot:
    """``digest``: of the manifest in the store; ``parent``: an id; ``gate``: the gate's report, if one ran.

    ``pruned_at``: since when its weights are no longer kept, and it cannot answer any more; None while they are.
    """

    id: str
    digest: str
    base_name: str
    base_sha256: str
    adapters: tuple[Adapter, ...]
    parent: str | None
    run: str | None
    created_at: float
    reason: str
    gate: dict[str, Any] | None
    pruned_at: float | None = None

    @property
    def objects(self) -> tuple[str, ...]:
        """The digests of what the store holds for it: its manifest and its adapters."""
        return (self.digest, *(adapter.sha256 for adapter in self.adapters))


# What a person may call a snapshot, beside its id.
CURRENT, PREVIOUS = "current", "previous"
# Who made a move that nobody asked for.
HOUSE = "enlace"
Moves = list[Move]  # inside the class, `list` is its method
Rows = list[Row]
Found = list[Snapshot]


class Snapshots:
    """The snapshots of one household. Everything that moves ``current`` is one transaction."""

    def __init__(self, family: Database, artifacts: ArtifactStore, clock: Clock) -> None:
        self._family = family
        self._artifacts = artifacts
        self._clock = clock

    def ensure_base(self, model_name: str, sha256: str) -> Snapshot:
        """The current snapshot; a home without one gets v0, the unchanged base model ``model_name``."""
        with self._family.transaction():
            if self._current_number() is None:
                base = self.create(model_name, sha256, adapters=(), parent=None, run=None, reason="base", gate=None)
                self._move_to(base.id, "promote", None, who=HOUSE, why="base")
            return self.current()

    def create(
        self,
        base_name: str,
        base_sha256: str,
        *,
        adapters: Sequence[Adapter],
        parent: str | None,
        run: str | None,
        reason: str,
        gate: Mapping[str, Any] | None,
    ) -> Snapshot:
        """A new snapshot; its adapters must be in the store, and it is not yet current.

        Raises SnapshotUnknown (the parent), ArtifactMissing (an adapter), DiskFull.
        """
        for adapter in adapters:
            self._artifacts.path(adapter.sha256)
        with self._family.transaction():
            number = int(self._family.value("SELECT coalesce(max(number) + 1, 0) FROM snapshots"))
            now = self._clock()
            # The manifest before the row: a row promises that its manifest is there.
            digest = self._artifacts.put_bytes(
                manifest_bytes(
                    name=f"v{number}",
                    base_name=base_name,
                    base_sha256=base_sha256,
                    adapters=adapters,
                    parent=self.get(parent).digest if parent else None,
                    run=run,
                    gate=gate,
                    created_at=now,
                )
            )
            self._family.run(
                "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (
                    number,
                    digest,
                    base_name,
                    base_sha256,
                    json.dumps(adapter_list(adapters)),
                    number_in(parent, "v") if parent else None,
                    run,
                    reason,
                    None if gate is None else json.dumps(gate),
                    now,
                ),
            )
            return self.get(f"v{number}")

    def current(self) -> Snapshot:
        """The snapshot that answers. Raises NoSnapshot."""
        number = self._current_number()
        if number is None:
            raise NoSnapshot()
        return self.get(f"v{number}")

    def get(self, snapshot_id: str) -> Snapshot:
        """The snapshot ``v3``, also one whose weights are no longer kept. Raises SnapshotUnknown."""
        row = self._family.row("SELECT * FROM snapshots WHERE number = ?", (number_in(snapshot_id, "v"),))
        if row is None:
            raise SnapshotUnknown(id=snapshot_id)
        return _snapshot(row)

    def named(self, name: str) -> Snapshot:
        """The snapshot that a person calls ``v3``, ``current``, or ``previous``: to that one a rollback goes.

        Raises SnapshotUnknown, NoSnapshot, NothingToRollBack.
        """
        if name == CURRENT:
            return self.current()
        return self._way_back(None)[0] if name == PREVIOUS else self.get(name)

    def list(self) -> list[Snapshot]:
        """All snapshots, the newest first, also those whose weights are no longer kept."""
        return [_snapshot(row) for row in self._family.rows("SELECT * FROM snapshots ORDER BY number DESC")]

    def answering(self) -> Snapshot | None:
        """The current one; None where there is none yet."""
        try:
            return self.current()
        except NoSnapshot:
            return None

    def promote(self, snapshot_id: str, who: str, why: str, on_record: Callable[[], object] = lambda: None) -> Snapshot:
        """Let ``snapshot_id`` answer from now on; what ``on_record`` writes into the same database is there with it.

        Raises SnapshotUnknown, SnapshotPruned, ArtifactDamaged, ArtifactMissing, and what ``on_record`` does.
        """
        with self._family.transaction():
            snapshot = self.whole(snapshot_id)
            current = self._current_number()
            if current != number_in(snapshot.id, "v"):
                self._move_to(snapshot.id, "promote", current, who=who, why=why)
            on_record()
            return snapshot

    def rollback(
        self, who: str, why: str, to: str | None = None, evidence: Mapping[str, Any] | None = None
    ) -> Snapshot:
        """Go back to what answered before the last promotion that still stands, or to ``to``; the snapshot.

        Rolling back again goes further back; what is no longer kept is passed over. Where no standing promotion began
        at ``to`` there is no way back to it: it is promoted, so that rolling back from it returns here. Raises
        NothingToRollBack, SnapshotUnknown, SnapshotPruned, ArtifactDamaged, ArtifactMissing.
        """
        with self._family.transaction():
            current = self.current()
            target, going = self._way_back(to)
            self.whole(target.id)
            self._family.run_many("UPDATE moves SET undone = 1 WHERE seq = ?", [(row["seq"],) for row in going])
            kind: Kind = "rollback" if going else "promote"
            self._move_to(target.id, kind, number_in(current.id, "v"), who=who, why=why, evidence=evidence)
            return target

    def rollback_target(self, to: str | None = None) -> Snapshot:
        """What ``rollback`` would go back to; nothing is moved. Raises what it raises."""
        return self.whole(self._way_back(to)[0].id)

    def whole(self, snapshot_id: str) -> Snapshot:
        """A snapshot whose manifest and adapters are kept and undamaged.

        Raises SnapshotUnknown, SnapshotPruned, ArtifactDamaged, ArtifactMissing.
        """
        snapshot = self.get(snapshot_id)
        if snapshot.pruned_at is not None:
            raise SnapshotPruned(id=snapshot.id)
        for digest in snapshot.objects:
            self._artifacts.verify(digest)
        return snapshot

    def rollback_targets(self) -> Found:
        """Where one rollback after the other would go, the nearest first, each once."""
        current = self._current_number()
        steps = dict.fromkeys(row["previous"] for row in self._standing() if row["previous"] != current)
        return [there for there in (self.get(f"v{number}") for number in steps) if there.pruned_at is None]

    def answering_since(self, time: float) -> frozenset[str]:
        """The ids of the snapshots that answered at ``time`` (seconds since 1970) or later."""
        rows = self._family.rows(
            "SELECT number FROM moves WHERE at >= ?1"
            " OR seq = (SELECT seq FROM moves WHERE at < ?1 ORDER BY seq DESC LIMIT 1)",
            (time,),
        )
        return frozenset(f"v{row['number']}" for row in rows)

    def _standing(self) -> Rows:
        """The promotions that no rollback went back over, the latest first."""
        return self._family.rows(
            "SELECT seq, previous FROM moves WHERE kind = 'promote' AND undone = 0 AND previous IS NOT NULL"
            " ORDER BY seq DESC"
        )

    def _way_back(self, to: str | None) -> tuple[Snapshot, Rows]:
        """The snapshot that a rollback goes to, unverified, and the promotions that it goes back over."""
        current, standing = self.current(), self._standing()
        wanted = None if to is None else self.get(to)
        for steps, row in enumerate(standing, 1):
            there = self.get(f"v{row['previous']}")
            if there.id != current.id and (there == wanted or (wanted is None and there.pruned_at is None)):
                return there, standing[:steps]
        if wanted is None or wanted.id == current.id:
            raise NothingToRollBack(id=current.id)
        return wanted, []

    def history(self) -> Moves:
        """Every move of the current snapshot, the newest first."""
        return read_moves(self._family)

    def file_digest(self, path: Path) -> str:
        """The SHA-256 of a model file, computed once for each (path, size, time of change). Raises OSError."""
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        known = self._family.value(
            "SELECT sha256 FROM file_digests WHERE path = ? AND size = ? AND modified_ns = ?", key
        )
        if known is not None:
            return str(known)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._family.run("INSERT OR REPLACE INTO file_digests VALUES (?, ?, ?, ?)", (*key, digest))
        return digest

    def _current_number(self) -> int | None:
        number: int | None = self._family.value("SELECT number FROM current_snapshot")
        return number

    def _move_to(
        self,
        snapshot: str,
        kind: Kind,
        previous: int | None,
        *,
        who: str,
        why: str,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        number = number_in(snapshot, "v")
        self._family.run("INSERT OR REPLACE INTO current_snapshot (only, number) VALUES (1, ?)", (number,))
        add_move(self._family, kind, snapshot, previous, who=who, why=why, at=self._clock(), evidence=evidence)


def _snapshot(row: Row) -> Snapshot:
    return Snapshot(
        f"v{row['number']}",
        row["digest"],
        row["base_name"],
        row["base_sha256"],
        read_adapters(json.loads(row["adapters"])),
        None if row["parent"] is None else f"v{row['parent']}",
        row["run"],
        row["created_at"],
        row["reason"],
        None if row["gate"] is None else json.loads(row["gate"]),
        row["pruned_at"],
    )
