"""Which lessons the weights that answer now know by themselves: measured when they were made, never assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory.database import Database


class Learned:
    """Of one file: the family's snapshots and the shared lessons, or a member's own adapters and private lessons.

    ``answering``: the number of what answers now, None where it is none of this file's. After a rollback it is another
    one, with what that knows.
    """

    def __init__(self, database: Database, answering: Callable[[], int | None]) -> None:
        self._database = database
        self._answering = answering

    def record(self, number: int, lessons: Iterable[str]) -> None:
        """Put on record which lessons, by id, the weights of ``number`` answered right without memory."""
        self._database.run_many(
            "INSERT OR IGNORE INTO lessons_learned (number, lesson) VALUES (?, ?)",
            [(number, lesson) for lesson in lessons],
        )

    def now(self) -> frozenset[str]:
        """The ids of those that what answers now knows."""
        number = self._answering()
        if number is None:
            return frozenset()
        rows = self._database.rows("SELECT lesson FROM lessons_learned WHERE number = ?", (number,))
        return frozenset(row["lesson"] for row in rows)


def unlearn(database: Database, lesson: str) -> None:
    """Take a lesson that was changed, or is gone, out of what any weights know: they learned other words."""
    database.run("DELETE FROM lessons_learned WHERE lesson = ?", (lesson,))
