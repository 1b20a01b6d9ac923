"""What a pane needs in which lessons are withdrawn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import work
from textual.containers import Vertical

from app.interface.said import Said
from app.withdrawing import forget_in_runs
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class ForgettingPane(Vertical):
    """A pane that takes a withdrawn lesson out of what past trainings wrote."""

    app: EnlaceApp

    @work
    async def forget(self, lesson_id: str) -> None:
        """Take it out, which takes a moment where there were many trainings; what cannot be written is said."""
        try:
            await asyncio.to_thread(forget_in_runs, self.app.session, lesson_id)
        except EnlaceError as error:
            self.post_message(Said(error=error))
