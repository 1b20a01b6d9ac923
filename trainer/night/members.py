"""Whether a member's own training is due, of what they keep to themselves: asked of those who want one, night by night.

No marker says so, which anybody could see: it follows from the member's own file and from the runs on record, and of
several processes that begin one at once one does.
"""

from __future__ import annotations

from configs.sections.night import NightSettings
from memory.errors import NoSnapshot
from memory.household import Household
from memory.runs import PRIVATE
from trainer.night.conditions import tried_lately


def is_due(household: Household, member: str, settings: NightSettings, now: float) -> bool:
    """Whether enough private corrections of ``member`` (an id) were judged by no training of theirs, or the weights
    have changed under what one made, and none has come to a verdict over the new ones.
    """
    if tried_lately(
        settings,
        now,
        (run for run in household.runs.list(member) if (run.kind, run.member) == (PRIVATE, member)),
    ):
        return False
    private, judged = household.member(member).private, household.runs.judged_for(member)
    known = frozenset().union(*(private.lessons(run.id) for run in judged))
    corrections = private.corrections()
    if sum(lesson.id not in known for lesson in corrections) >= settings.private_pairs:
        return True
    try:
        snapshot = household.snapshots.current()
    except NoSnapshot:
        return False
    record = private.current()
    if not corrections or record is None or record.belongs_to(snapshot):
        return False
    moved_at = household.snapshots.history()[0].at
    return not any(run.started_at >= moved_at for run in judged)
