"""Corrections and ratings: what an answer should have been, in the context in which it was given."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from configs.sections.memory import MemorySettings
from memory.clock import Clock
from memory.database import Row
from memory.errors import LessonEmpty, LessonTooLong, LessonUnchanged, LessonUnknown
from memory.ids import new_id
from memory.learned import unlearn
from memory.recall_index import RecallIndex
from memory.text import storable
from memory.visibility import Visibility
from memory.wording import question_key

Source = Literal["edit", "compare", "thumb", "import", "distilled"]
Status = Literal["active", "withdrawn"]
LessonMessage = dict[str, str]

_TICK = 0.001  # seconds between two corrections of one question at least; ids count in milliseconds


@dataclass(frozen=True)
class Lesson:
    """A preference pair. ``messages``: {"role", "content"}, the last one is the user's question.

    ``rejected`` is empty when nothing was answered wrong before (a supervised lesson). ``member``: an id.
    """

    id: str
    member: str
    visibility: Visibility
    source: Source
    messages: tuple[LessonMessage, ...]
    chosen: str
    rejected: str
    snapshot: str | None
    created_at: float
    status: Status = "active"

    @property
    def question(self) -> str:
        return self.messages[-1]["content"]


class Lessons:
    """What one member can see: their own private lessons and the household's shared ones.

    A lesson lives in exactly one file: the member's, or ``family.db`` once it is shared, where the trainer and
    the other members' recall find it.
    """

    def __init__(
        self, own: RecallIndex, family: RecallIndex, member_id: str, settings: MemorySettings, clock: Clock
    ) -> None:
        self._indexes: dict[Visibility, RecallIndex] = {"private": own, "shared": family}
        self._member_id = member_id
        self._settings = settings
        self._clock = clock

    def add(
        self,
        messages: Sequence[Mapping[str, str]],
        chosen: str,
        rejected: str | None = None,
        *,
        visibility: Visibility = "private",
        source: Source = "edit",
        snapshot: str | None = None,
        lesson_id: str | None = None,
        created_at: float | None = None,
    ) -> Lesson:
        """Store a lesson of this member; it is recalled from now on.

        ``rejected`` may be missing: the lesson then teaches the right answer without a wrong one. ``lesson_id``
        and ``created_at`` keep what an imported lesson had. Raises LessonEmpty, LessonUnchanged, LessonTooLong.
        """
        now = self._after_earlier(messages) if created_at is None else created_at
        lesson = Lesson(
            lesson_id or new_id(now),
            self._member_id,
            visibility,
            source,
            tuple({"role": storable(m["role"]), "content": storable(m["content"])} for m in messages),
            storable(chosen),
            storable(rejected or ""),
            None if snapshot is None else storable(snapshot),
            now,
        )
        self._check(lesson)
        self._store(lesson)
        return lesson

    def list(self, *, status: Status | None = None) -> list[Lesson]:
        """Lessons, the newest first."""
        found: dict[str, Lesson] = {}
        # A crash while a lesson was moved can leave it in both files; the shared one is then the later one.
        for visibility, index in self._indexes.items():
            for row in index.database.rows("SELECT * FROM lessons WHERE ?1 IS NULL OR status = ?1", (status,)):
                found[row["id"]] = read_lesson(row, visibility)
        return sorted(found.values(), key=lambda lesson: (lesson.created_at, lesson.id), reverse=True)

    def get(self, lesson_id: str) -> Lesson:
        """Raises LessonUnknown, also for another member's private lesson."""
        places: tuple[Visibility, ...] = ("shared", "private")
        for visibility in places:
            database = self._indexes[visibility].database
            if row := database.row("SELECT * FROM lessons WHERE id = ?", (storable(lesson_id),)):
                return read_lesson(row, visibility)
        raise LessonUnknown(id=lesson_id)

    def edit(
        self, lesson_id: str, *, question: str | None = None, chosen: str | None = None, rejected: str | None = None
    ) -> Lesson:
        """The lesson in other words. Raises LessonUnknown, LessonEmpty, LessonUnchanged, LessonTooLong."""
        old = self.get(lesson_id)
        last = old.messages[-1] if question is None else {"role": "user", "content": storable(question)}
        new = replace(
            old,
            messages=(*old.messages[:-1], last),
            chosen=old.chosen if chosen is None else storable(chosen),
            rejected=old.rejected if rejected is None else storable(rejected),
        )
        self._check(new)
        with self._indexes[new.visibility].database.transaction():
            self._store(new)
            unlearn(self._indexes[new.visibility].database, new.id)
        return new

    def share(self, lesson_id: str) -> Lesson:
        """Let the household and the trainer see a lesson. Raises LessonUnknown."""
        return self._move(lesson_id, "shared")

    def unshare(self, lesson_id: str) -> Lesson:
        """Take a lesson of this member's back into their own file. Raises LessonUnknown."""
        if self.get(lesson_id).member != self._member_id:
            raise LessonUnknown(id=lesson_id)
        return self._move(lesson_id, "private")

    def withdraw(self, lesson_id: str) -> Lesson:
        """Take a lesson out of recall and of later training until ``restore``. Raises LessonUnknown."""
        return self._set_status(lesson_id, "withdrawn")

    def restore(self, lesson_id: str) -> Lesson:
        """Undo ``withdraw``. Raises LessonUnknown."""
        return self._set_status(lesson_id, "active")

    def purge(self, lesson_ids: Iterable[str]) -> bool:
        """Remove lessons for good, with every trace of them in the databases; only whose they are may.

        False where another window still holds a file as it was: the last one to close it finishes. Raises
        LessonUnknown, also for another member's, and DiskFull.
        """
        for lesson in [self.get(each) for each in lesson_ids]:
            if lesson.member != self._member_id:
                raise LessonUnknown(id=lesson.id)
            for index in self._indexes.values():
                _drop(index, lesson.id)
        scrubbed = [index.database.scrub() for index in self._indexes.values()]
        return all(scrubbed)

    @contextmanager
    def together(self, visibility: Visibility) -> Iterator[None]:
        """Everything of this visibility that is added inside is stored together, or nothing is."""
        with self._indexes[visibility].database.transaction():
            yield

    def _after_earlier(self, messages: Sequence[Mapping[str, str]]) -> float:
        """Now, but later than the earlier corrections of the same question, also if the clock was set back."""
        key = question_key(storable(messages[-1]["content"])) if messages else ""
        latest = "SELECT max(created_at) FROM lessons WHERE question_key = ?"
        earlier: list[float | None] = [index.database.value(latest, (key,)) for index in self._indexes.values()]
        return max([self._clock(), *(time + _TICK for time in earlier if time is not None)])

    def _set_status(self, lesson_id: str, status: Status) -> Lesson:
        lesson = replace(self.get(lesson_id), status=status)
        self._store(lesson)
        return lesson

    def _move(self, lesson_id: str, visibility: Visibility) -> Lesson:
        lesson = replace(self.get(lesson_id), visibility=visibility)
        # Stored in the new place first: a crash in between leaves it twice, never not at all.
        self._store(lesson)
        for other, index in self._indexes.items():
            if other != visibility:
                _drop(index, lesson_id)
        return lesson

    def _store(self, lesson: Lesson) -> None:
        index = self._indexes[lesson.visibility]
        with index.database.transaction():
            seq = index.database.value("SELECT seq FROM lessons WHERE id = ?", (lesson.id,))
            seq = index.database.insert(
                "INSERT OR REPLACE INTO lessons (seq, id, member, source, messages, question_key, chosen, rejected,"
                " snapshot, created_at, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    seq,
                    lesson.id,
                    lesson.member,
                    lesson.source,
                    json.dumps(lesson.messages),
                    question_key(lesson.question),
                    lesson.chosen,
                    lesson.rejected,
                    lesson.snapshot,
                    lesson.created_at,
                    lesson.status,
                ),
            )
            index.remove("lesson", seq)
            if lesson.status == "active" and lesson.source != "thumb":
                index.add("lesson", seq, lesson.question)

    def _check(self, lesson: Lesson) -> None:
        if not lesson.messages or lesson.messages[-1]["role"] != "user" or not same_words(lesson.question):
            raise LessonEmpty(part="question")
        limit = self._settings.lesson_characters
        for part, text in (("question", lesson.question), ("chosen", lesson.chosen), ("rejected", lesson.rejected)):
            if len(text) > limit:
                raise LessonTooLong(part=part, length=len(text), limit=limit)
        if lesson.source == "thumb":
            return
        if not same_words(lesson.chosen):
            raise LessonEmpty(part="chosen")
        if same_words(lesson.chosen) == same_words(lesson.rejected):
            raise LessonUnchanged()


def same_words(text: str) -> str:
    """What two answers have in common that differ only in white space or in how accents are encoded."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def read_lesson(row: Row, visibility: Visibility) -> Lesson:
    """A row of the table ``lessons``."""
    return Lesson(
        row["id"],
        row["member"],
        visibility,
        row["source"],
        tuple(json.loads(row["messages"])),
        row["chosen"],
        row["rejected"],
        row["snapshot"],
        row["created_at"],
        row["status"],
    )


def _drop(index: RecallIndex, lesson_id: str) -> None:
    with index.database.transaction():
        seq = index.database.value("SELECT seq FROM lessons WHERE id = ?", (lesson_id,))
        if seq is not None:
            index.remove("lesson", seq)
            unlearn(index.database, lesson_id)
            index.database.run("DELETE FROM lessons WHERE seq = ?", (seq,))
