"""Another snapshot answers: because somebody wants it, or because its probation says that it must not stay."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from app.fitting import fit_current
from app.standing import adults_alone
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.session import Session
    from engine.interface import Engine
    from memory.probation import Probation
    from memory.snapshots import Snapshot


async def go_back(session: Session, why: str, to: str | None = None) -> Snapshot:
    """Have the snapshot before the current one, or ``to``, answer from the next question on; what answers then.

    A running engine serves it first: what cannot be served never becomes current. Raises AdultsAlone, and what
    ``Snapshots.rollback_target`` and the engine's ``adopt`` raise; then nothing has changed.
    """
    adults_alone(session)
    snapshots, who = session.household.snapshots, session.member.name
    target = snapshots.rollback_target(to)
    moved = await session.engine.adopt(target.digest, lambda: snapshots.rollback(who, why, target.id))
    fit_current(session)
    return moved


async def keep_probation(session: Session) -> Probation | None:
    """Count what the member made of their answers, and go back where there is cause; why it was gone back, if it was.

    Raises what ``go_back`` does.
    """
    household = session.household
    found = await asyncio.to_thread(household.count_answers, session.member.id)
    if found is None or not found.failed:
        return None
    target = household.snapshots.rollback_target(found.previous)
    await session.engine.adopt(target.digest, lambda: household.probations.go_back(found))
    fit_current(session)
    return found


async def answers_in_flight(engine: Engine) -> int:
    """How many answers are being written, for which another snapshot waits; 0 where nobody knows."""
    with contextlib.suppress(EnlaceError):
        return getattr(await engine.status(), "busy", None) or 0
    return 0
