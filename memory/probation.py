"""The probation of a snapshot: its first answers, held against those before them, member by member.

What a member made of their answers is counted in their own file; the household's has the numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from configs.sections.memory import ProbationSettings
from memory.database import Database, Row
from memory.members import Member
from memory.moves import Move
from memory.numbered import number_in
from memory.snapshots import HOUSE, Snapshot, Snapshots

# What was answered, and ended: nothing that is still written or failed, and nothing that a person wrote. A member's own
# adapter is told by a plus (``engine.answers``): what it had a part in says nothing of the family's snapshot.
_ANSWERS = (
    " FROM messages AS answer WHERE role = 'assistant' AND state IN ('complete', 'stopped')"
    " AND json_extract(meta, '$.corrects') IS NULL"
)
_BAD = (
    "SELECT rating = -1 OR EXISTS (SELECT 1 FROM messages AS correction WHERE correction.parent_id = answer.parent_id"
    " AND json_extract(correction.meta, '$.corrects') = answer.id) AS bad"
)


@dataclass(frozen=True)
class Counts:
    """Answers ``before`` a promotion and ``after`` it, and how many of each were corrected or rated as bad."""

    before: int
    before_bad: int
    after: int
    after_bad: int


@dataclass(frozen=True)
class Probation:
    """How the one of ``snapshot`` stands, which answers in the place of ``previous``.

    ``counts``: of everybody; ``answers``: how many of its answers are looked at; ``chance``: how likely at least as
    many bad ones after the promotion would be where nothing had changed, 0 to 1; ``failed``: it is to go.
    """

    snapshot: str
    previous: str
    counts: Counts
    answers: int
    chance: float
    failed: bool

    def evidence(self) -> dict[str, Any]:
        """For the record of a rollback."""
        return {**asdict(self.counts), "chance": self.chance}


class Probations:
    """The probation of a household's current snapshot, while there is one."""

    def __init__(self, family: Database, snapshots: Snapshots, settings: ProbationSettings) -> None:
        self._family = family
        self._snapshots = snapshots
        self._settings = settings

    def state(self) -> Probation | None:
        """How it stands by what was counted; None where no snapshot is on probation, or its answers are through.

        What a training made is, from its first promotion on. Whoever takes another model, or brings back a snapshot
        later, has decided.
        """
        move = self._beginning()
        return None if move is None else self._judged(move)

    def count(self, member: Member, own: Database) -> Probation | None:
        """Count anew what ``member`` made of their answers, in their file ``own``, and say how it stands then."""
        move = self._beginning()
        if move is None or self._judged(move) is None:
            return None
        counts = self._counted(own, move)
        with self._family.transaction():
            if counts.after and self._beginning() == move:
                self._family.run(
                    "INSERT OR REPLACE INTO probation (number, member, before, before_bad, after, after_bad)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (number_in(move.snapshot, "v"), member.id, *asdict(counts).values()),
                )
            return self._judged(move)

    def go_back(self, failed: Probation) -> Snapshot:
        """Let what answered before the one that failed answer again; what answers then.

        Where another was put in its place meanwhile, that one does. Raises what ``Snapshots.rollback`` does.
        """
        with self._family.transaction():
            current = self._snapshots.current()
            if current.id != failed.snapshot:
                return current
            return self._snapshots.rollback(HOUSE, "probation", failed.previous, failed.evidence())

    def _beginning(self) -> Move | None:
        """The promotion by which the current snapshot answers, where a training made it and it is its first."""
        moves = self._snapshots.history()
        if not moves:
            return None
        move, *earlier = moves
        if move.kind != "promote" or move.previous is None:
            return None
        if self._snapshots.get(move.snapshot).run is None or any(each.snapshot == move.snapshot for each in earlier):
            return None
        return move

    def _judged(self, move: Move) -> Probation | None:
        rows = self._family.rows("SELECT * FROM probation WHERE number = ?", (number_in(move.snapshot, "v"),))
        each = [Counts(row["before"], row["before_bad"], row["after"], row["after_bad"]) for row in rows]
        names = ("before", "before_bad", "after", "after_bad")
        total = Counts(*(sum(getattr(counts, name) for counts in each) for name in names))
        if total.after > self._settings.answers or move.previous is None:
            return None
        chance = chance_of_as_many(each)
        failed = total.after_bad >= self._settings.fewest_bad and chance <= self._settings.chance
        return Probation(move.snapshot, move.previous, total, self._settings.answers, chance, failed)

    def _counted(self, own: Database, move: Move) -> Counts:
        # What was gone back from says nothing of how good answers usually are.
        left = [each.snapshot for each in self._snapshots.history() if each.undone]
        marks = ", ".join("?" * len(left))
        before = own.rows(
            f"{_BAD}{_ANSWERS} AND created_at < ? AND instr(snapshot, '+') = 0"
            f" AND snapshot NOT IN ({marks}) ORDER BY seq DESC LIMIT ?",
            (move.at, *left, self._settings.compared),
        )
        after = own.rows(
            f"{_BAD}{_ANSWERS} AND created_at >= ? AND snapshot = ? ORDER BY seq DESC LIMIT ?",
            (move.at, move.snapshot, self._settings.answers + 1),
        )
        return Counts(len(before), _bad(before), len(after), _bad(after))


def chance_of_as_many(members: Iterable[Counts]) -> float:
    """How likely as many bad answers after a change are as there were, or more, where it changed nothing: 0 to 1.

    The exact conditional test of a common odds ratio over strata (Gart 1970, Biometrika 57, 471), one-sided: within
    each member, which of their answers were bad is as if drawn by lot (hypergeometric), so that neither who complains
    more often nor who asked more after the change counts. For one member it is Fisher's exact test.
    """
    sums = {0: 1.0}
    seen = 0
    for counts in members:
        seen += counts.after_bad
        drawn = _hypergeometric(counts)
        mixed: dict[int, float] = {}
        for so_far, likely in sums.items():
            for bad, also in drawn.items():
                mixed[so_far + bad] = mixed.get(so_far + bad, 0.0) + likely * also
        sums = mixed
    return min(1.0, sum(likely for bad, likely in sums.items() if bad >= seen))


def _hypergeometric(counts: Counts) -> Mapping[int, float]:
    """How likely each number of bad answers after the change is, of as many bad ones as this member had in all."""
    bad = counts.before_bad + counts.after_bad
    ways = math.comb(counts.before + counts.after, bad)
    least, most = max(0, bad - counts.before), min(bad, counts.after)
    return {
        number: math.comb(counts.after, number) * math.comb(counts.before, bad - number) / ways
        for number in range(least, most + 1)
    }


def _bad(rows: list[Row]) -> int:
    return sum(bool(row["bad"]) for row in rows)
