"""A lesson that is taken back leaves recall and later trainings at once, and the folders of past trainings with it."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session import Session


def forget_in_runs(session: Session, lesson_id: str) -> None:
    """Take a lesson that is taught no longer out of what past trainings wrote, and write their reports anew.

    Raises FileNotWritten, OutputUnwritable.
    """
    forget_everywhere(session, {lesson_id})


def forget_everywhere(session: Session, lessons: Set[str]) -> None:
    """The same of several (ids). Raises FileNotWritten, OutputUnwritable."""
    changed = session.household.forget_withdrawn(*lessons)
    if changed:
        from app.report.files import leave_report
        from memory.runs import BLAME, REPRODUCE

        for run in map(session.household.runs.get, changed):
            if run.kind not in (BLAME, REPRODUCE):
                leave_report(session.home, run, session.catalogue)


def trained_on(session: Session, lessons: Set[str]) -> list[str]:
    """The snapshots, by id, that are kept and were trained on any of these lessons (ids)."""
    household = session.household
    return [
        each.id
        for each in household.snapshots.list()
        if each.pruned_at is None and each.run is not None and lessons & household.runs.lessons(each.run)
    ]


def what_still_knows(session: Session, lesson_id: str) -> list[str]:
    """A sentence each for the current snapshot, the others that are kept, and the member's own adapter, where they were
    trained on the lesson.
    """
    text, own = session.catalogue.text, session.memory.private
    current, record = session.snapshot(), own.current()
    found = []
    if current.run is not None and lesson_id in session.household.runs.lessons(current.run):
        found.append(text("command.lessons.still_known", snapshot=current.id))
    earlier = [each for each in trained_on(session, {lesson_id}) if each != current.id]
    if earlier:
        found.append(text("command.lessons.kept_knowing", snapshots=", ".join(earlier)))
    if record is not None and lesson_id in own.lessons(record.run):
        found.append(text("command.train.mine.still_known", adapter=record.id))
    return found
