"""Sending a question, following its answer, and stopping it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import on, work

from app.assistant.events import Remembered
from app.assistant.second_reading import read_on
from app.interface.chat.composer import Composer
from app.interface.chat.looking import Looking
from app.interface.chat.talk import Talk
from app.interface.transcript import Transcript
from app.remembered import told
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.assistant.events import Event


class Asking(Looking):
    """One answer at a time is written on a screen."""

    def __init__(self) -> None:
        super().__init__()
        self._early = ""

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        if self._talk is None:
            # Nobody waits for the house to open: the question is asked as soon as it is.
            self._early = event.text
            self.composer.load_text("")
            return
        talk = self.ready()
        if talk is None:
            return
        self.workers.cancel_group(self, "reading")
        self.notice.clear()
        self.composer.load_text("")
        if self._rephrasing is not None:
            question, self._rephrasing = self._rephrasing, None
            self._follow(talk, talk.assistant.edit(question, event.text), event.text)
        else:
            leaf = talk.path[-1].id if talk.path else None
            asked = talk.assistant.ask(event.text, conversation_id=talk.conversation_id, parent_id=leaf)
            self._follow(talk, asked, event.text)

    @work(exclusive=True, group="answer")
    async def _follow(self, talk: Talk, asked: AsyncGenerator[Event, None], text: str = "") -> None:
        try:
            await talk.follow(asked)
        finally:
            if self.is_attached:
                self._after_answer(talk, text)

    def _after_answer(self, talk: Talk, text: str) -> None:
        if talk.failure:
            # Nothing was stored: the words go back to where they were written.
            self.notice.say(talk.failure, problem=True)
            self.composer.load_text(text)
        self._offer_undo(talk, talk.remembered)
        self._read_on(talk)
        self.refresh_side()
        self.keep_probation()
        self.look()

    @work(exclusive=True, group="reading")
    async def _read_on(self, talk: Talk) -> None:
        """Once nobody has asked anything for a while, what patterns have missed is read by the model."""
        session = talk.session
        await asyncio.sleep(session.settings.memory.facts.model_after_seconds)
        # What keeps it from reading keeps it from answering, and is told by the next question.
        with suppress(EnlaceError):
            if found := await read_on(session.engine, session.memory, session.settings):
                self._offer_undo(talk, Remembered(tuple(found)))

    def _offer_undo(self, talk: Talk, kept: Remembered | None) -> None:
        """One key takes back what was kept of the question; the note under the answer says what that is."""
        facts = talk.session.memory.facts
        if kept is None or not kept.facts or not self.app.session.settings.assistant.tell_remembered:
            return

        def back() -> None:
            for fact in kept.facts:
                facts.undo(fact.id)

        self.tell(told(kept, self.app.catalogue)[0], undo=back)

    def ask_early(self) -> None:
        """Ask what was sent while the house was opening."""
        early, self._early = self._early, ""
        if early:
            self._submitted(Composer.Submitted(early))

    def action_stop(self) -> None:
        if self._rephrasing is not None:
            self._rephrasing = None
            self.composer.load_text("")
            self.notice.clear()
        elif self._talk is not None and self._talk.progress.writing:
            self.workers.cancel_group(self, "answer")
            self.notice.clear()
        else:
            self.notice.clear()
            self.composer.focus()

    @on(Transcript.FollowChanged)
    def _follow_changed(self, event: Transcript.FollowChanged) -> None:
        if not event.following and self._talk is not None and self._talk.progress.writing:
            self.say("screen.more_below")
