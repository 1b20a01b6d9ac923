"""All facts, read once for a side of memory however many keys are pressed, and again when it is shown anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.fact_list import FactList

if TYPE_CHECKING:
    from app.session import Session


class KeptFacts:
    """Of one side. ``of`` is called in threads, ``forget`` between two of its calls or in the middle of one."""

    def __init__(self) -> None:
        self._kept: list[FactList] = []

    def of(self, session: Session, *, forgotten: bool = False) -> FactList:
        """Those that stand, or with ``forgotten`` those that can be restored. Raises what memory does of a database."""
        # What is read when they are forgotten goes into a list that nobody looks into any more.
        kept = self._kept
        if not kept:
            kept.append(FactList.of(session.memory.hearing.ledger.rows, forgotten=forgotten))
        return kept[0]

    def forget(self) -> None:
        """Read them anew the next time."""
        self._kept = []
