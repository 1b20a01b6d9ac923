"""A lesson that is taken back leaves recall and later trainings at once, and the folders of past trainings with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session import Session


def forget_in_runs(session: Session, lesson_id: str) -> None:
    """Take a lesson that is taught no longer out of what past trainings wrote, and write their reports anew.

    Raises FileNotWritten, OutputUnwritable.
    """
    changed = session.household.forget_withdrawn(lesson_id)
    if changed:
        from app.report.files import leave_report
        from memory.runs import BLAME

        for run in map(session.household.runs.get, changed):
            if run.kind != BLAME:
                leave_report(session.home, run, session.catalogue)


def snapshot_that_knows(session: Session, lesson_id: str) -> str | None:
    """The current snapshot, where it was trained on this lesson."""
    current = session.snapshot()
    known = current.run is not None and lesson_id in session.household.runs.lessons(current.run)
    return current.id if known else None


def adapter_that_knows(session: Session, lesson_id: str) -> str | None:
    """The member's own adapter, where it was trained on this lesson."""
    own = session.memory.private
    record = own.current()
    return record.id if record is not None and lesson_id in own.lessons(record.run) else None
