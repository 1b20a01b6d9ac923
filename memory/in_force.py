"""Which of a file's lessons count: the latest correction of each question, and the ratings that none replaces."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memory.database import Database
from memory.lessons import Lesson, read_lesson
from memory.recall_index import RecallIndex
from memory.visibility import Visibility

# The latest correction of a question counts; thumbs correct nothing, so they neither count nor replace. Nor does what
# waits for whoever administers, but for whose it is (?2).
_IN_FORCE = """
    SELECT * FROM lessons WHERE status = 'active' AND source <> 'thumb' AND {counts} AND NOT EXISTS (
        SELECT 1 FROM lessons AS later
        WHERE later.question_key = lessons.question_key
        AND (later.created_at, later.id) > (lessons.created_at, lessons.id)
        AND later.status = 'active' AND later.source <> 'thumb' AND {later_counts}
    )
    AND (?1 IS NULL OR seq IN (SELECT value FROM json_each(?1)))
    ORDER BY created_at, id
"""
_COUNTS = "({lesson}.member IS ?2 OR {lesson}.id NOT IN (SELECT id FROM lessons_waiting))"
_SHARED_IN_FORCE = _IN_FORCE.format(
    counts=_COUNTS.format(lesson="lessons"), later_counts=_COUNTS.format(lesson="later")
)
# Nothing waits in a member's own file: all that is in it is theirs.
_OWN_IN_FORCE = _IN_FORCE.format(counts="TRUE", later_counts="TRUE")


def lessons_in_force(family: Database) -> list[Lesson]:
    """The shared lessons to train on, oldest first: active, no thumbs, the latest correction of each question.

    What waits for whoever administers is none of them, and replaces none.
    """
    rows = family.rows(_SHARED_IN_FORCE, (None, None))
    return [read_lesson(row, "shared") for row in rows]


def corrections_in(file: Database, visibility: Visibility) -> list[Lesson]:
    """Every lesson of a file that is active and no thumb, oldest first, also where a later one has the same question.

    ``visibility``: of the lessons that this file holds.
    """
    rows = file.rows("SELECT * FROM lessons WHERE status = 'active' AND source <> 'thumb' ORDER BY created_at, id")
    return [read_lesson(row, visibility) for row in rows]


def ratings_in(file: Database, visibility: Visibility) -> list[Lesson]:
    """The thumbs of a file that were not taken back, oldest first; none on a question that was corrected there.

    A thumb up has the answer as ``chosen`` and nothing rejected, a thumb down the other way round.
    """
    rows = file.rows(
        "SELECT * FROM lessons WHERE status = 'active' AND source = 'thumb' AND NOT EXISTS ("
        " SELECT 1 FROM lessons AS correction WHERE correction.question_key = lessons.question_key"
        " AND correction.status = 'active' AND correction.source <> 'thumb'"
        ") ORDER BY created_at, id"
    )
    return [read_lesson(row, visibility) for row in rows]


def lessons_at(
    index: RecallIndex, visibility: Visibility, numbers: Iterable[int], member_id: str
) -> list[tuple[int, Lesson]]:
    """Those lessons among the rows ``numbers`` of one file that no later correction replaces, with their rows.

    ``member_id``: for whom; what others have shared and still waits counts for nobody but them.
    """
    wanted = json.dumps(list(numbers))
    if visibility == "shared":
        rows = index.database.rows(_SHARED_IN_FORCE, (wanted, member_id))
    else:
        rows = index.database.rows(_OWN_IN_FORCE, (wanted,))
    return [(row["seq"], read_lesson(row, visibility)) for row in rows]


def lessons_asked(index: RecallIndex, key: str) -> list[int]:
    """The rows of one file's lessons whose question is the one of ``key`` (``question_key``); none for an empty one."""
    rows = index.database.rows("SELECT seq FROM lessons WHERE question_key = ?1 AND ?1 <> ''", (key,))
    return [row["seq"] for row in rows]
