"""How it stands with a document, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session import Session
    from memory.documents.states import DocumentState


def sentences(session: Session, state: DocumentState) -> list[str]:
    """What whoever looks should know of a document."""
    from app.errors_text import explain
    from memory.documents.reader import problem_of

    words = session.catalogue
    found = [words.text(f"documents.remarks.{remark.code}", **remark.facts) for remark in state.remarks]
    if state.problem is not None:
        found.insert(0, str(explain(problem_of(state.problem, state.facts), words)))
    sealed = state.visibility == "private" and session.household.doors.secret_of(session.member.id) == "passphrase"
    if sealed and state.state == "waiting":
        found.append(words.text("documents.remarks.waits_for_you"))
    if state.gone and state.state != "replaced":
        found.append(words.text("documents.remarks.gone"))
    return found
