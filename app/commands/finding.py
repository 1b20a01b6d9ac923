"""Which conversation of a member's a word on the command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.options import MANY, find

if TYPE_CHECKING:
    from app.session import Session
    from memory.chats import Conversation


def find_chat(session: Session, reference: str, *, deleted: bool | None = False) -> Conversation:
    """By its place in the list, its id, or the id's beginning. Raises ConversationUnknown, ReferenceUnclear.

    ``deleted``: whether it is one of those that were deleted; None: it may be, and those come after the others.
    """
    from memory.errors import ConversationUnknown

    chats = session.memory.chats
    lists = (False, True) if deleted is None else (deleted,)
    everything = [each for among in lists for each in chats.list(MANY, deleted=among)]
    return find(everything, reference, lambda entry: entry.id, lambda wrong: ConversationUnknown(id=wrong))
