"""The member's own adapter, where their questions are to be answered with it."""

from __future__ import annotations

from engine.answers import PRIVATELY, PrivateAdapter
from memory.household import Household


def own_adapter(household: Household, member_id: str) -> PrivateAdapter | None:
    """What was trained for this member alone, if they want it and it belongs to what the family is served now.

    Looked up for each question: it may have been switched off, rolled back, or left behind by a promotion meanwhile.
    Raises MemberUnknown and NoSnapshot.
    """
    own = household.member(member_id).private
    if not household.members.get(member_id).private_training:
        return None
    current = household.snapshots.current()
    record = own.answering(current)
    return None if record is None else PrivateAdapter(member_id, record.sha256, current.digest)


def familys(snapshot: str | None) -> str | None:
    """The family's part of the name of what answered: which adapter lay over it is its member's affair alone.

    A lesson has no more of it, since it may be shared, now or later.
    """
    return snapshot and snapshot.partition(PRIVATELY)[0]
