"""How the assistant speaks to a member: a few words of theirs, which it is told before every question of theirs."""

from __future__ import annotations

from memory.database import Database
from memory.entrance_errors import VoiceTooLong
from memory.text import storable


class Voice:
    """In the member's own file: what somebody wants to be spoken to like is theirs alone."""

    def __init__(self, database: Database, longest: int) -> None:
        """``longest``: in characters."""
        self._database = database
        self._longest = longest

    def get(self) -> str:
        """Their words, on one line; empty where they asked for nothing."""
        return str(self._database.value("SELECT manner FROM voice") or "")

    def set(self, manner: str) -> str:
        """Speak like this from the next question on; an empty text takes it back. Raises VoiceTooLong."""
        clean = " ".join(storable(manner).split())
        if len(clean) > self._longest:
            raise VoiceTooLong(length=len(clean), limit=self._longest)
        self._database.run("INSERT OR REPLACE INTO voice (only, manner) VALUES (1, ?)", (clean,))
        return clean
