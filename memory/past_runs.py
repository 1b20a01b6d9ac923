"""What past runs hold of lessons that were taken back, in the family's folders and in every member's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.clock import Clock
from memory.made import MadeRecords
from memory.members import Members
from memory.run_texts import clear_files, forget
from memory.runs import Runs
from memory.snapshots import Snapshots


class PastRuns:
    """Of one household. ``in_force``: the digests of a member's own adapters, by the member's id."""

    def __init__(
        self,
        home: Home,
        runs: Runs,
        members: Members,
        snapshots: Snapshots,
        made: MadeRecords,
        artifacts: Callable[[Home], ArtifactStore],
        in_force: Callable[[str], frozenset[str]],
        clock: Clock,
    ) -> None:
        self._home = home
        self._runs = runs
        self._members = members
        self._snapshots = snapshots
        self._made = made
        self._artifacts = artifacts
        self._in_force = in_force
        self._clock = clock

    def forget_withdrawn(self, *more: str) -> tuple[str, ...]:
        """Take what past runs hold of lessons that were taken back, and of ``more`` (ids), out of their folders.

        What the trainer has kept to save time goes with it: the base's answers to questions like theirs. The runs that
        held something; the one that works right now is left alone. Raises FileNotWritten.
        """
        taken_back = self._runs.taken_back()
        # A run for one member measures the shared lessons too.
        found = self._forget(self._home, self._made, self._in_snapshots, taken_back, more)
        for member in self._members.list():
            found += self.forget_apart(member.id, taken_back, more)
        return found

    def forget_apart(
        self, member_id: str, taken_back: Mapping[str, frozenset[str]], more: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Take lessons that were taken back out of the folders of the runs that trained for this member.

        ``taken_back``: ids by their run. Raises FileNotWritten.
        """
        home = self._home.of_member(member_id)
        made = MadeRecords(home, self._artifacts(home))
        return self._forget(home, made, lambda: self._in_force(member_id), taken_back, more)

    def _in_snapshots(self) -> frozenset[str]:
        return frozenset(digest for snapshot in self._snapshots.list() for digest in snapshot.objects)

    def _forget(
        self,
        home: Home,
        made: MadeRecords,
        needed: Callable[[], Collection[str]],
        taken_back: Mapping[str, frozenset[str]],
        more: Iterable[str],
    ) -> tuple[str, ...]:
        # What a run went on from it was not given itself.
        made.forget(frozenset(more).union(*taken_back.values()), taken_back, needed)
        running = self._runs.running()
        found = []
        for folder in sorted(path for path in home.runs.glob("*") if path.is_dir()):
            lessons = taken_back.get(folder.name, frozenset()) | frozenset(more)
            works = running is not None and running.id == folder.name
            if lessons and not works and forget(folder, lessons, self._clock()):
                found.append(folder.name)
        if found:
            clear_files(home.cache)
        return tuple(found)
