"""An answer while it is written: on disk soon after every word, and always in one final state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from app.assistant.events import State
from configs.errors import EnlaceError
from memory.chats import Chats


class AnswerStore:
    """Collects the pieces of one answer and stores what there is ``every_s`` seconds after a piece at the latest."""

    def __init__(self, chats: Chats, answer_id: str, every_s: float) -> None:
        self._chats = chats
        self._every_s = every_s
        self._timer: asyncio.TimerHandle | None = None
        self.answer_id = answer_id
        self.text = ""
        self.finished = False

    def add(self, piece: str) -> None:
        self.text += piece
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every_s, self._store)

    def finish(
        self, state: State, meta: Mapping[str, Any], *, text: str | None = None, snapshot: str | None = None
    ) -> None:
        """Store the answer for good; ``text`` replaces what was collected. Later calls do nothing. Raises what keeps
        it from being stored.
        """
        if self.finished:
            return
        self.finished = True
        if self._timer is not None:
            self._timer.cancel()
        self.text = self.text if text is None else text
        self._chats.finish_answer(self.answer_id, self.text, state, meta, snapshot=snapshot)

    def _store(self) -> None:
        self._timer = None
        if not self.finished:
            # A timer has nobody to tell. The next piece tries again, and finish() tells what still keeps it off disk.
            with contextlib.suppress(EnlaceError):
                self._chats.extend_answer(self.answer_id, self.text)
