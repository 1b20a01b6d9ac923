"""What members had written and not sent when a screen of theirs ended: nothing typed is lost while Enlace is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.interface.chat.screen import ChatScreen


class Drafts:
    """Of one interface, by the member's id."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def keep(self, member_id: str, chat: ChatScreen | None) -> None:
        """What is written on ``chat``."""
        if chat is not None:
            self._kept[member_id] = chat.composer.text

    def take(self, member_id: str) -> str:
        """What was kept, once; empty where nothing was."""
        return self._kept.pop(member_id, "")
