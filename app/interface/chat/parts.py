"""What the chat screen consists of, and the little that all its actions share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerCancelled

from app.errors_text import explain
from app.interface.chat.bar import Bar
from app.interface.chat.composer import Composer
from app.interface.chat.correction import Correction
from app.interface.chat.corrections import Corrections
from app.interface.chat.listing import listed
from app.interface.chat.notice import Notice
from app.interface.chat.side import Listed, Side
from app.interface.chat.talk import Talk
from app.interface.transcript import Transcript
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class ChatParts(Screen[None]):
    """The widgets, the quiet line, and the conversation once the house is open."""

    app: EnlaceApp

    def __init__(self) -> None:
        super().__init__()
        self._talk: Talk | None = None
        self._corrections: Corrections | None = None
        self._rephrasing: str | None = None
        self._undo: list[Callable[[], None]] = []
        # Enter was pressed on words that are still being searched for.
        self._entered = False

    def compose(self) -> ComposeResult:
        text, settings = self.app.catalogue.text, self.app.settings
        yield Bar(f"{text('screen.title')} · {text('screen.household')}", strong=True, id="header")
        with Horizontal(id="middle"):
            pairs = self.app.session.settings.training.night.pairs
            yield Side(self.app.catalogue, pairs, settings.side_width, id="side")
            with Container(id="talk"):
                yield Transcript(settings, id="transcript")
                yield Correction(self.app.catalogue, id="correction")
        yield Notice(settings.undo_seconds, id="notice")
        with Horizontal(id="write"):
            yield Static("›", id="prompt", markup=False)
            yield Composer(text("screen.write_here"), settings.composer_lines, id="composer")
            yield Static(text("screen.composer_keys"), id="composer-keys", markup=False)
        yield Bar(text("screen.status.opening"), text("screen.status.help"), id="status")

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def side(self) -> Side:
        return self.query_one(Side)

    @property
    def notice(self) -> Notice:
        return self.query_one(Notice)

    @property
    def talk(self) -> Talk | None:
        """The conversation, once the house is open."""
        return self._talk

    def refresh_side(self) -> None:
        """List what there is now. What is searched for is read in a thread: no key waits for it."""
        self.workers.cancel_group(self, "search")
        if self.side.search_text.strip():
            self.search_side()
        else:
            self._list(listed(self.app.session.memory.chats, "", self.app.settings))

    @work(exclusive=True, group="search")
    async def search_side(self, after: float = 0) -> None:
        """List what the words are found in, unless another key is pressed within ``after`` seconds."""
        await asyncio.sleep(after)
        chats, words = self.app.session.memory.chats, self.side.search_text
        try:
            self._list(await asyncio.to_thread(listed, chats, words, self.app.settings))
        except EnlaceError as error:
            self.explain(error)
            return
        if self._entered:
            self._entered = False
            self.side.open_first()

    def _list(self, rows: Sequence[Listed]) -> None:
        session, talk = self.app.session, self._talk
        self.side.show(rows, talk.conversation_id if talk else None, self.app.clock())
        to_decide = len(session.household.approvals.waiting()) if session.member.admin else 0
        self.side.waiting(len(session.household.lessons_unjudged()), to_decide)

    def explain(self, error: EnlaceError) -> None:
        """Tell of an error in the quiet line; where it is that the member was removed, it is the last word."""
        if not self.app.left_alone(error):
            self.notice.say(str(explain(error, self.app.catalogue)), problem=True)

    def say(self, key: str, *, undo: Callable[[], None] | None = None, problem: bool = False, **facts: object) -> None:
        """Show a text of the catalogue in the quiet line; ``undo`` takes back what it tells of."""
        self.tell(self.app.catalogue.text(key, **facts), undo=undo, problem=problem)

    def tell(self, sentence: str, *, undo: Callable[[], None] | None = None, problem: bool = False) -> None:
        """The same of a sentence that is put together already."""
        if undo is not None:
            self._undo.append(undo)
        self.notice.say(sentence, problem=problem, undo=self.app.catalogue.text("screen.undo") if undo else "")

    def ready(self) -> Talk | None:
        """The conversation if it can take a question now; says so when not."""
        if self._talk is None:
            self.say("screen.starting")
        elif self._talk.progress.writing:
            self.say("screen.not_while_writing")
        else:
            return self._talk
        return None

    async def freed(self) -> Talk | None:
        """The conversation, to be left for another: an answer that is being written is stopped, and kept."""
        if self._talk is None:
            self.say("screen.starting")
        else:
            await self.stop_and_wait()
        return self._talk

    async def stop_and_wait(self) -> None:
        """Stop an answer that is being written and wait until it is stored."""
        self.workers.cancel_group(self, "answer")
        await self.answered()

    async def answered(self) -> None:
        """Wait until an answer that is being written is stored."""
        for worker in [worker for worker in self.workers if worker.group == "answer" and worker.node is self]:
            if not worker.is_finished:
                with suppress(WorkerCancelled):  # which is an end that was asked for
                    await worker.wait()
