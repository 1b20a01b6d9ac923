"""The memory of one home: the family's database and one file for each member."""

from __future__ import annotations

import contextlib
import threading
import time
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from configs.home import Home
from configs.sections.memory import MemorySettings
from memory.approvals import Approvals
from memory.artifacts import ArtifactStore
from memory.chats import Chats
from memory.clock import Clock
from memory.database import Database
from memory.documents.papers import Papers
from memory.documents.shelf import Shelf
from memory.doors import Doors
from memory.errors import DatabaseReadOnly, DiskFull, MemberUnknown, RunUnknown
from memory.exchanging import sweep
from memory.extraction.people import Circle
from memory.fact_ledger import Ledger
from memory.fact_rows import FactRows
from memory.facts import Facts
from memory.guard import Guard
from memory.hearing import Hearing
from memory.in_force import corrections_in, lessons_in_force, ratings_in
from memory.learned import Learned
from memory.lessons import Lesson, Lessons
from memory.made import MadeRecords
from memory.meaning.embedder import MakesVectors
from memory.meaning.places import Places
from memory.member_memory import MemberMemory as MemberMemory
from memory.members import Member, Members
from memory.migrations import Migrations
from memory.past_runs import PastRuns
from memory.private import PrivateTraining
from memory.probation import Probation, Probations
from memory.pruning import Pruner
from memory.readings import Readings
from memory.recall import Recall
from memory.recall_index import RecallIndex
from memory.reserve import keep_or_give_up
from memory.runs import Runs
from memory.sealing import clear_trained
from memory.snapshots import Snapshots
from memory.voice import Voice
from memory.wording import Wordings

_DAY_S: Final = 86_400


class Household:
    """Use as a context manager, or call ``close``. May be used from several threads.

    ``makes_vectors``: in the place of the package that the settings ask for. ``unattended``: as for ``open``.
    """

    def __init__(
        self,
        home: Home,
        settings: MemorySettings,
        clock: Clock,
        makes_vectors: MakesVectors | None = None,
        *,
        unattended: bool = False,
    ) -> None:
        self.home = home
        self.settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._wordings = Wordings(settings.recall)
        self._places = Places(self._wordings, settings.recall.meaning, makes_vectors)
        self._opened: dict[str, tuple[Database, MemberMemory]] = {}
        self._family = self._database("family")
        self._family_index = RecallIndex(self._family, self._wordings, settings.recall)
        self._family_place = self._places.add(self._family_index)
        self.artifacts = self._artifacts(home)
        self.made = MadeRecords(home, self.artifacts)
        self.approvals = Approvals(self._family, clock)
        self.runs = Runs(self._family, clock)
        self.documents = Shelf(self._family, "shared", settings.documents, clock)
        self.doors = Doors(self._family, settings.entrance, clock, home.member_db, unattended=unattended)
        self.members = Members(self._family, home, settings, clock, self.close_file, self.runs.running, self.documents)
        self.snapshots = Snapshots(self._family, self.artifacts, clock)
        self.learned = Learned(self._family, lambda: self._family.value("SELECT number FROM current_snapshot"))
        self.probations = Probations(self._family, self.snapshots, settings.probation)
        self._past_runs = PastRuns(
            home, self.runs, self.members, self.snapshots, self.made, self._artifacts, self._in_force, clock
        )
        self.pruner = Pruner(home, self._family, self.artifacts, self.snapshots, self.runs, settings.prune, clock)

    @classmethod
    def open(
        cls, home: Home, settings: MemorySettings, clock: Clock = time.time, *, unattended: bool = False
    ) -> Household:
        """The household of ``home``, made if it is new. ``unattended``: for a process that shows nobody what it reads.

        Raises HomeNotWritable, DatabaseDamaged, DatabaseTooNew, DatabaseReadOnly, DatabaseBusy, DiskFull.
        """
        home.prepare()
        keep_or_give_up(home, settings.reserve)
        household = cls(home, settings, clock, unattended=unattended)
        household.artifacts.sweep()
        sweep(home.members)
        return household

    def member(self, member_id: str) -> MemberMemory:
        """What belongs to one member. No other member's file is opened.

        Raises SecretNeeded before they have proven who they are (``doors``), MemberUnknown, by the name of whoever was
        removed while their file was open here, and what ``open`` raises about a database.
        """
        try:
            member = self.members.get(member_id)
        except MemberUnknown as error:
            if member_id not in self._opened:
                raise
            # Removed by another process, while this one goes on asking by their id.
            raise MemberUnknown(name=self._opened[member_id][1].member.name) from error
        self.doors.check(member)
        return self._opened_file(member)[1]

    def leave(self, member_id: str) -> None:
        """Close a member's file, and have them prove who they are the next time."""
        self.doors.leave(member_id)
        self.close_file(member_id)

    def rest(self, member_id: str) -> None:
        """As ``leave``; but whoever holds on to their ``MemberMemory`` may go on with it once they have proven it."""
        self.doors.leave(member_id)
        with self._lock:
            if member_id in self._opened:
                self._opened[member_id][0].rest()

    def _opened_file(self, member: Member) -> tuple[Database, MemberMemory]:
        with self._lock:
            if member.id not in self._opened:
                database = self._database("member", member)
                memory = self._memory(member, database)
                if self.doors.secret_of(member.id) == "passphrase":
                    memory.private.forget_all()
                    clear_trained(self.home.of_member(member.id))
                self._opened[member.id] = (database, memory)
                self._finish_promotion(memory.private)
            return self._opened[member.id]

    def _finish_promotion(self, private: PrivateTraining) -> None:
        """Put on record that a member's own run has shipped, whose adapter answers them, where that is missing.

        The two are in two files, which no transaction spans. What counts is the member's, written first: killed in
        between, or where the family's has no room, the run would seem to have come to nothing, and its lessons would be
        trained again. So whoever opens the member's file next finishes what was begun.
        """
        made = private.latest()
        if made is None:
            return
        # Where nothing can be written, the next one who can does; a run that is not on record has nothing to finish.
        with contextlib.suppress(DatabaseReadOnly, DiskFull, RunUnknown):
            run = self.runs.get(made.run)
            if run.state not in ("running", "shipped"):
                summary = {name: told for name, told in run.summary.items() if name != "code"}
                self.runs.overrule(run.id, made.id, {**summary, "gate": made.gate}, made.created_at)

    def count_answers(self, member_id: str) -> Probation | None:
        """Count what a member made of the answers of a snapshot on probation; how it stands then, if one still is.

        Raises MemberUnknown.
        """
        member = self.member(member_id).member
        with self._lock:
            own, _ = self._opened[member.id]
        return self.probations.count(member, own)

    def lessons_for_training(self) -> list[Lesson]:
        """The shared lessons in force, the oldest first: no withdrawn or replaced ones, none that waits, no thumbs."""
        return lessons_in_force(self._family)

    def corrections(self) -> list[Lesson]:
        """Every shared correction that was not withdrawn and does not wait for whoever administers, oldest first.

        Of one question there may be several.
        """
        return self.approvals.without_waiting(corrections_in(self._family, "shared"))

    def ratings(self) -> list[Lesson]:
        """The shared thumbs, oldest first, but for those on questions that were corrected."""
        return self.approvals.without_waiting(ratings_in(self._family, "shared"))

    def lessons_waiting(self) -> list[Lesson]:
        """Of the lessons for training, those that the snapshot in force was not trained on."""
        answering = self.snapshots.answering()
        learned = self.runs.lessons(answering.run) if answering and answering.run else frozenset()
        return [lesson for lesson in self.lessons_for_training() if lesson.id not in learned]

    def lessons_unjudged(self) -> list[Lesson]:
        """Of the lessons for training, those that no training has come to a verdict on: what makes the next one due."""
        judged = self.runs.judged_lessons()
        return [lesson for lesson in self.lessons_for_training() if lesson.id not in judged]

    def forget_withdrawn(self, *more: str) -> tuple[str, ...]:
        """As ``PastRuns.forget_withdrawn``."""
        return self._past_runs.forget_withdrawn(*more)

    def forget_private(self, member_id: str) -> tuple[str, ...]:
        """As ``PastRuns.forget_apart``, of private lessons. Raises MemberUnknown, FileNotWritten."""
        return self._past_runs.forget_apart(member_id, self.member(member_id).private.taken_back())

    def _in_force(self, member_id: str) -> frozenset[str]:
        """The digests of a member's own adapters."""
        member = self.members.get(member_id)
        if self.doors.secret_of(member.id) == "passphrase":
            # Nothing is trained of what is encrypted.
            return frozenset()
        _, memory = self._opened_file(member)
        return frozenset(record.sha256 for record in memory.private.list())

    def make_vectors(self, member_id: str) -> None:
        """Make all vectors that a member's memory and the family's lack, now. Raises MemberUnknown."""
        self.member(member_id)
        self._places.finish()

    def close(self) -> None:
        """Close every file. One that is busy keeps none of the others open. Raises DatabaseBusy."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._family.close)
            for database, _ in self._opened.values():
                stack.callback(database.close)
            self._opened.clear()
            self._places.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close_file(self, member_id: str) -> None:
        """Close a member's file here, if it is open; it is opened anew when it is needed."""
        with self._lock:
            database, _ = self._opened.pop(member_id, (None, None))
        if database is not None:
            self._places.leave(database)
            database.close()

    def _circle(self, member: Member) -> Circle:
        others = tuple((each.id, each.name) for each in self.members.list() if each.id != member.id)
        return Circle(member.id, member.name, self.members.is_named(member), others)

    def _artifacts(self, home: Home) -> ArtifactStore:
        return ArtifactStore(home, clock=self._clock, unfinished_seconds=self.settings.unfinished_hours * 3600)

    def _database(self, kind: str, member: Member | None = None) -> Database:
        shared: dict[str, Any] = {"clock": self._clock, "busy_seconds": self.settings.busy_seconds}
        if member is None:
            return Database(self.home.family_db, Migrations(kind), **shared)
        path = self.home.member_db(member.id)
        guard = Guard(path, self.settings.busy_seconds)
        return Database(path, Migrations(kind), guard=guard, key=lambda: self.doors.key(member), **shared)

    def _memory(self, member: Member, database: Database) -> MemberMemory:
        index = RecallIndex(database, self._wordings, self.settings.recall)
        shared = (self._family_index, member.id, self.settings, self._clock)
        ledger = Ledger({"private": FactRows(index, "private"), "shared": FactRows(self._family_index, "shared")})
        readings = Readings(database, self._clock)
        artifacts = self._artifacts(self.home.of_member(member.id))
        artifacts.sweep()
        chats = Chats(database, self.settings, self._clock)
        facts = Facts(ledger, member.id, self.settings, self._clock)
        restorable_since = self._clock() - self.settings.deleted_days * _DAY_S
        chats.purge(before=restorable_since)
        facts.purge_forgotten(restorable_since)
        made = MadeRecords(self.home.of_member(member.id), artifacts)
        private = PrivateTraining(database, artifacts, made, self._clock, self.snapshots.answering)
        return MemberMemory(
            member,
            chats,
            facts,
            Hearing(member, chats, ledger, readings, partial(self._circle, member), self.settings),
            Lessons(index, *shared),
            Recall(
                self._places.add(index),
                self._family_place,
                member,
                self._wordings,
                self._places.meaning,
                {"private": private.learned, "shared": self.learned},
                self.settings.recall,
            ),
            private,
            Papers(database, self._family, self.settings.documents, self._clock),
            Voice(database, self.settings.voice_characters),
        )
