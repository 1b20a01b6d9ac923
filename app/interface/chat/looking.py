"""Keeping the status line true, and telling of a snapshot that was gone back from."""

from __future__ import annotations

from textual import work
from textual.widgets import Static

from app.going_back import go_back, keep_probation
from app.interface.chat import status
from app.interface.chat.bar import Bar
from app.interface.chat.parts import ChatParts
from app.interface.chat.talk import Progress
from app.probation_text import gone
from configs.errors import EnlaceError


class Looking(ChatParts):
    """Looks at the engine, the trainer and the network, and says what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self._facts: status.Facts | None = None
        self._listed: str | None = None

    @work(exclusive=True, group="status")
    async def look(self) -> None:
        """Ask the engine, the trainer and the system how they are."""
        before = self._facts
        try:
            self._facts = await status.look(self.app.session)
        except EnlaceError as error:
            self.explain(error)
        self.say_status()
        if before is not None and self._facts is not None and before.snapshot != self._facts.snapshot:
            self._another_answers()

    @work(group="probation")
    async def keep_probation(self) -> None:
        """See whether a new snapshot is to go, now that the member said what they think of an answer, or got one."""
        try:
            gone_back = await keep_probation(self.app.session)
        except EnlaceError as error:
            self.explain(error)
            return
        if gone_back is not None:
            self.look()

    def _another_answers(self) -> None:
        """Tell, where nobody did it: also whose answers were not the bad ones."""
        move = self.app.session.household.snapshots.history()[0]
        if move.evidence and move.previous is not None:
            left = move.previous

            def back() -> None:
                self.serve(left)

            self.tell(gone(self.app.catalogue, move), undo=back, problem=True)

    @work(group="serve")
    async def serve(self, snapshot: str) -> None:
        """Let a snapshot answer again that did not pass its probation."""
        try:
            await go_back(self.app.session, self.app.catalogue.text("probation.wanted"), snapshot)
        except EnlaceError as error:
            self.explain(error)
        self.look()

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
