"""Shared lessons of children and guests: they wait, until whoever administers lets them be trained."""

from __future__ import annotations

from collections.abc import Iterable

from memory.clock import Clock
from memory.database import Database
from memory.errors import LessonNotWaiting
from memory.lessons import Lesson, read_lesson
from memory.text import storable


class Approvals:
    """Of one household. What waits is remembered, and recalled to whoever shared it and nobody else."""

    def __init__(self, family: Database, clock: Clock) -> None:
        self._family = family
        self._clock = clock

    def waiting(self) -> list[Lesson]:
        """The lessons and ratings that wait, the newest first."""
        rows = self._family.rows("SELECT * FROM lessons_waiting ORDER BY created_at DESC, id DESC")
        return [read_lesson(row, "shared") for row in rows]

    def waiting_ids(self) -> frozenset[str]:
        """Which lessons and ratings wait."""
        return frozenset(row["id"] for row in self._family.rows("SELECT id FROM lessons_waiting"))

    def without_waiting(self, lessons: Iterable[Lesson]) -> list[Lesson]:
        """Those of them that do not wait."""
        waiting = self.waiting_ids()
        return [lesson for lesson in lessons if lesson.id not in waiting]

    def approve(self, lesson_id: str, who: str) -> Lesson:
        """Let a lesson be trained from now on, as it is. Raises LessonNotWaiting where none of this id waits."""
        lesson = next((each for each in self.waiting() if each.id == lesson_id), None)
        if lesson is None:
            raise LessonNotWaiting(id=lesson_id)
        values = (storable(who), self._clock(), lesson.id)
        self._family.run("UPDATE lessons SET approved_by = ?, approved_at = ? WHERE id = ?", values)
        return lesson

    def take_back(self, lesson_id: str) -> None:
        """Have a lesson wait again that was approved."""
        self._family.run("UPDATE lessons SET approved_by = NULL, approved_at = NULL WHERE id = ?", (lesson_id,))
