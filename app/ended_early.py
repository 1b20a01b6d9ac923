"""Why a training came to no verdict that counts, as it told itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.errors_text import Explained, explain
from app.run_log import RunLog
from app.training import failure_of
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run


def why_early(session: Session, run: Run) -> Explained | None:
    """In words; None for a run that goes on or came to its end, and for one that was killed and could not tell."""
    if run.state not in ("failed", "stopped"):
        return None
    facts: Mapping[str, Any] = run.summary
    if run.member is not None or "code" not in facts:
        # The household's database has no more of a member's own run than the code.
        told = [each.facts for each in RunLog(run_folder(session.home, run)).look() if each.kind == "run_failed"]
        facts = (told[-1] if told else None) or {}
    return explain(failure_of(session.home, facts), session.catalogue) if "code" in facts else None
