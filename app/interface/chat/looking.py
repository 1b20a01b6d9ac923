"""Keeping the status line true."""

from __future__ import annotations

from textual import work
from textual.widgets import Static

from app.interface.chat import status
from app.interface.chat.bar import Bar
from app.interface.chat.morning import Morning
from app.interface.chat.talk import Progress
from configs.errors import EnlaceError


class Looking(Morning):
    """Looks at the engine, the trainer and the network, and says what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self._facts: status.Facts | None = None
        self._listed: str | None = None

    @work(exclusive=True, group="status")
    async def look(self) -> None:
        """Ask the engine, the trainer and the system how they are. Whoever comes in again is told what changed."""
        if self.app.locking.locked:
            return
        before = self._facts
        try:
            self._facts = await status.look(self.app.session)
        except EnlaceError as error:
            self.explain(error)
        self.say_status()
        if before is not None and self._facts is not None and before.snapshot != self._facts.snapshot:
            self.another_answers()

    def say_status(self) -> None:
        """Bring the status line up to date, and the side list where another conversation is open now."""
        if not self.query("#status"):
            # The engine's answer may come when the screen is being closed and has no widgets any more.
            return
        progress = self._talk.progress if self._talk else Progress()
        self.query_one("#status", Bar).say(status.sentence(self._facts, progress, self.app.catalogue))
        keys = "composer_stop" if progress.writing else "composer_keys"
        if self._talk is not None and self._talk.conversation_id != self._listed:
            self._listed = self._talk.conversation_id
            self.refresh_side()
        self.query_one("#composer-keys", Static).update(self.app.catalogue.text(f"screen.{keys}"))
