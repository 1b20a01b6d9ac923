"""What the side list shows: the conversations, or what a search finds in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.interface.chat.side import Listed

if TYPE_CHECKING:
    from configs.sections.interface import InterfaceSettings
    from memory.chats import Chats


def listed(chats: Chats, search: str, settings: InterfaceSettings) -> list[Listed]:
    """The rows for the words in ``search``; for none, every conversation, the last used first."""
    if search.strip():
        hits = chats.search(search, settings.found_listed)
        found = [
            Listed(
                hit.conversation.id,
                hit.conversation.title,
                hit.message.created_at,
                hit.message.id,
                hit.snippet,
                hit.marks,
            )
            for hit in hits
        ]
        return sorted(found, key=lambda row: row.at, reverse=True)
    conversations = chats.list(settings.conversations_listed)
    return [Listed(each.id, each.title, each.updated_at) for each in conversations]
