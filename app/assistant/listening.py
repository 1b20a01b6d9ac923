"""Hears a question beside its answer: what it leaves in memory is stored while the model writes."""

from __future__ import annotations

import asyncio
from typing import Any

from app.assistant.events import Remembered
from memory.chats import ChatMessage
from memory.hearing import Heard, Hearing


class Listening:
    """Begins to hear ``question`` at once, in a thread; call ``end`` before the household is closed."""

    def __init__(self, hearing: Hearing, question: ChatMessage) -> None:
        self._heard = asyncio.ensure_future(asyncio.to_thread(hearing.hear, question))

    async def heard(self) -> Heard:
        """What it came to. Raises FactTooLong and what memory raises about a database."""
        return await self._heard

    async def told(self, meta: dict[str, Any]) -> list[Remembered]:
        """What is to be told of it, and kept in ``meta`` with the answer; nothing, for most questions."""
        heard = await self.heard()
        if not heard.new and not heard.fell:
            return []
        meta["remembered"] = [fact.id for fact in heard.new]
        meta["fell"] = [fact.id for fact in heard.fell]
        return [Remembered(heard.new, heard.fell, asked=heard.asked is not None)]

    async def end(self) -> None:
        """Return once nothing is being heard any more, however that ended."""
        await asyncio.wait([self._heard])
        if not self._heard.cancelled():
            # Whoever wanted to know has asked; an answer that was stopped has nobody who does.
            self._heard.exception()
