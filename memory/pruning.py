"""Which snapshots are kept, and what of the artifact store nobody needs any more: it goes, to make room.

An object is needed where a kept snapshot reaches it: its manifest and its adapters, its parents' manifests, and what
other rooms made of it. That is decided from the records alone, so that no damaged object hides another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from configs.home import Home
from configs.sections.memory import PruneSettings
from memory import runlog
from memory.artifacts import ArtifactStore, Stored
from memory.clock import Clock
from memory.database import Database
from memory.errors import ArtifactDamaged, ArtifactMissing
from memory.numbered import number_in
from memory.runs import BLAME, REPRODUCE, Runs, run_folder
from memory.snapshots import Snapshot, Snapshots

# It answers now; an engine that is a question behind serves it; a run under way may have begun from it; it is a base,
# whose weights are no part of the store; a rollback goes there; it is one of the newest.
Why = Literal["current", "served", "running", "base", "rollback", "newest"]
# The digests of what other rooms made of a snapshot.
MadeOf = Callable[[Snapshot], Collection[str]]
SECONDS_AN_HOUR = 3600


@dataclass(frozen=True)
class Fate:
    """A snapshot and why it is kept; None: it goes, and ``bytes`` of the store with it.

    ``taken_back``: ids of lessons that it learned and that were withdrawn since, or are not shared any more.
    """

    snapshot: Snapshot
    why: Why | None
    taken_back: frozenset[str]
    bytes: int = 0


@dataclass(frozen=True)
class Unsound:
    """An object that is needed and not as it was stored. ``snapshots``: the ids of those that need it."""

    digest: str
    path: str
    problem: Literal["damaged", "missing"]
    snapshots: tuple[str, ...]


@dataclass(frozen=True)
class Pruning:
    """What was done, or would be.

    ``going``: those that learned a lesson that was taken back first, then the newest first, as ``kept``. ``objects``
    go, in that order; ``young`` ones nobody needs either, but whoever put them there may be about to. ``needed``: what
    stays because a snapshot needs it, each digest with the ids of those that do.
    """

    going: tuple[Fate, ...]
    kept: tuple[Fate, ...]
    objects: tuple[Stored, ...]
    young: tuple[Stored, ...]
    needed: Mapping[str, Sequence[str]]


class Pruner:
    """Of one household. ``clock``: seconds since 1970, as the file system tells them."""

    def __init__(
        self,
        home: Home,
        family: Database,
        artifacts: ArtifactStore,
        snapshots: Snapshots,
        runs: Runs,
        settings: PruneSettings,
        clock: Clock,
    ) -> None:
        self._home = home
        self._family = family
        self._artifacts = artifacts
        self._snapshots = snapshots
        self._runs = runs
        self._settings = settings
        self._clock = clock

    def plan(self, made_of: MadeOf, served: Collection[str] = (), kept: int | None = None) -> Pruning:
        """What ``prune`` would do; nothing is changed. Raises NoSnapshot."""
        listed, fates = self._artifacts.objects(), self._fates(served, kept)
        return self._plan(listed, fates, self._given_up(fates), made_of)

    def prune(
        self,
        made_of: MadeOf,
        served: Collection[str] = (),
        kept: int | None = None,
        waits: Callable[[], None] = lambda: None,
    ) -> Pruning:
        """Give up what is not kept; what was done.

        ``served``: ids of what an engine serves at the moment. ``kept``: instead of the setting. ``waits`` is
        called before it waits for a backup. The records come before the objects: interrupted, the next call finds what
        is left. Raises NoSnapshot, DatabaseReadOnly.
        """
        # Before the records are looked at: what is stored later is another object, whoever comes to need it.
        listed = self._artifacts.objects()
        with self._family.transaction():
            # A run that begins, or a snapshot that is gone back to, comes before this or finds what is kept.
            fates, now = self._fates(served, kept), self._clock()
            gone = [(now, number_in(fate.snapshot.id, "v")) for fate in fates if fate.why is None]
            self._family.run_many("UPDATE snapshots SET pruned_at = ? WHERE number = ?", gone)
            given_up = self._given_up(fates)
        planned = self._plan(listed, fates, given_up, made_of)
        return replace(planned, objects=tuple(self._artifacts.remove_listed(planned.objects, waits)))

    def unsound(self, pruning: Pruning) -> list[Unsound]:
        """What is needed and not as it was stored; all of it is read, gigabytes where weights are merged."""
        found = []
        for digest, snapshots in pruning.needed.items():
            try:
                self._artifacts.verify(digest)
            except (ArtifactDamaged, ArtifactMissing) as error:
                problem: Literal["damaged", "missing"] = "damaged" if isinstance(error, ArtifactDamaged) else "missing"
                found.append(Unsound(digest, str(error.facts["path"]), problem, tuple(dict.fromkeys(snapshots))))
        return found

    def _fates(self, served: Collection[str], kept: int | None) -> list[Fate]:
        """Of every snapshot whose weights are still there, the newest first."""
        most = self._settings.snapshots if kept is None else kept
        taken_back = self._runs.taken_back()
        there = [snapshot for snapshot in self._snapshots.list() if snapshot.pruned_at is None]
        knowing = {each.id: taken_back.get(each.run or "", frozenset()) for each in there}
        newest = [each.id for each in there if not knowing[each.id]]
        back = [each.id for each in self._snapshots.rollback_targets() if not knowing[each.id]]
        reasons: list[tuple[Why, Collection[str]]] = [
            ("current", [self._snapshots.current().id]),
            ("served", served),
            ("running", self._begun_from()),
            ("base", [each.id for each in there if not each.adapters]),
            ("rollback", back[:most]),
            ("newest", newest[:most]),
        ]
        return [
            Fate(each, next((why for why, ids in reasons if each.id in ids), None), knowing[each.id]) for each in there
        ]

    def _begun_from(self) -> Collection[str]:
        """What the run under way may have begun from, or the one whose lessons it looks into."""
        run = self._runs.running()
        if run is None:
            return ()
        since = run.started_at
        if run.kind == REPRODUCE:
            # By a manifest that may name any of them.
            since = 0.0
        if run.kind == BLAME:
            events, _ = runlog.read(run_folder(self._home, run))
            named = next((found for event in events if (found := (event.facts or {}).get("blamed"))), None)
            # Before it has said which one, it may be any.
            since = self._runs.get(named).started_at if named else 0.0
        return self._snapshots.answering_since(since)

    def _given_up(self, fates: Sequence[Fate]) -> frozenset[str]:
        """The objects of what is not kept, which go at once; none while a run may come to the same weights again."""
        if self._runs.running() is not None:
            return frozenset()
        kept = {fate.snapshot.id for fate in fates if fate.why is not None}
        return frozenset(each for one in self._snapshots.list() if one.id not in kept for each in one.objects)

    def _plan(
        self, listed: Sequence[Stored], fates: Sequence[Fate], given_up: frozenset[str], made_of: MadeOf
    ) -> Pruning:
        kept = [fate for fate in fates if fate.why is not None]
        needed = self._needed([fate.snapshot for fate in kept], made_of)
        oldest = self._clock() - self._settings.grace_hours * SECONDS_AN_HOUR
        left = [stored for stored in listed if stored.digest not in needed]
        # Whoever stored any other object lately may be about to need it.
        old = {each.digest: each for each in left if each.digest in given_up or each.stored_at < oldest}
        going, objects = [], dict[str, Stored]()
        for fate in sorted((fate for fate in fates if fate.why is None), key=lambda fate: not fate.taken_back):
            own = {each: old[each] for each in fate.snapshot.objects if each in old and each not in objects}
            going.append(replace(fate, bytes=sum(stored.bytes for stored in own.values())))
            objects |= own
        objects |= old
        young = [stored for stored in left if stored.digest not in old]
        return Pruning(tuple(going), tuple(kept), tuple(objects.values()), tuple(young), needed)

    def _needed(self, kept: Sequence[Snapshot], made_of: MadeOf) -> dict[str, list[str]]:
        """The objects that these reach, each with the ids of those that do."""
        needed: dict[str, list[str]] = {}
        for snapshot in kept:
            for digest in snapshot.objects:
                needed.setdefault(digest, []).append(snapshot.id)
            parent = snapshot.parent
            while parent is not None:
                before = self._snapshots.get(parent)
                needed.setdefault(before.digest, []).append(snapshot.id)
                parent = before.parent
            for digest in made_of(snapshot):
                needed.setdefault(digest, []).append(snapshot.id)
        return needed
