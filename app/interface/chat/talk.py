"""Which conversation is open, along which branch, and the answer that is being written in it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.assistant.events import (
    Done,
    Event,
    Failed,
    Queued,
    Recalled,
    Remembered,
    Sources,
    Started,
    Thinking,
    Token,
    ToolCalled,
    ToolReturned,
    Trimmed,
)
from app.errors_text import explain
from app.interface.chat.entries_of import EntryMaker, Taught
from app.interface.markdown.lines import Span
from app.recalled_sources import sources_of
from app.remembered import told
from app.terminal_text import StreamCleaner, clean

if TYPE_CHECKING:
    from app.assistant.assistant import Assistant
    from app.interface.entries import Entry
    from app.interface.transcript import Transcript
    from app.session import Session
    from memory.chats import ChatMessage


@dataclass
class Progress:
    """What the status line may say of the answer in hand; ``context`` is a share from 0 to 1, if known."""

    writing: bool = False
    tokens: int = 0
    first_at: float = 0.0
    speed: float | None = None
    context: float | None = None


class Talk:
    """Follows the assistant's events into the transcript. ``changed`` is called when the status has news.

    ``failure`` says why the last question could not even be stored; it is empty otherwise. ``remembered``: what
    was kept of the last question.
    """

    def __init__(
        self, session: Session, transcript: Transcript, changed: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self.session = session
        self.assistant: Assistant = session.assistant()
        self.progress = Progress()
        self.conversation_id: str | None = None
        self.path: list[ChatMessage] = []
        self._transcript = transcript
        self._changed = changed
        self._clock = clock
        self._makers = EntryMaker(session.catalogue)
        self._live: Entry | None = None
        self._cleaner = StreamCleaner()
        self._extra: list[tuple[Span, ...]] = []
        self.failure = ""
        self.remembered: Remembered | None = None

    # Looking

    def open(self, conversation_id: str | None, message_id: str | None = None) -> None:
        """Show a conversation along the branch that a message is on (the newest by default); None shows none."""
        chats = self.session.memory.chats
        self.conversation_id = conversation_id
        leaf = chats.newest_leaf(message_id).id if message_id else None
        self.path = chats.path(conversation_id, leaf) if conversation_id else []
        self.progress = Progress(context=_context(self.path))
        self._transcript.show(self._entries(self.path))
        self._transcript.focus_on(self.entry_of(self.last("assistant")), visible=False)
        self._changed()

    def refresh(self, leaf_id: str | None = None) -> None:
        """Show what is stored now up to a message (the last one shown by default), the reader's place kept."""
        if self.conversation_id is None:
            return
        leaf = leaf_id or (self.path[-1].id if self.path else None)
        focused = self._transcript.focused_entry
        self.path = self.session.memory.chats.path(self.conversation_id, leaf)
        self._transcript.update(self._entries(self.path))
        known = {message.id for message in self.path}
        if focused is None or focused.key not in known:
            self._transcript.focus_on(self.entry_of(self.last("assistant")), visible=False)

    def last(self, role: str) -> ChatMessage | None:
        """The last question ("user") or answer ("assistant") on the branch."""
        return next((message for message in reversed(self.path) if message.role == role), None)

    def entry_of(self, message: ChatMessage | None) -> Entry | None:
        """The entry on the screen of a message."""
        return next((e for e in self._transcript.entries if message is not None and e.key == message.id), None)

    def focused(self, role: str) -> ChatMessage | None:
        """The focused message if it has this role, else the last one that has."""
        entry = self._transcript.focused_entry
        for message in self.path:
            if entry is not None and message.id == entry.key and message.role == role:
                return message
        return self.last(role)

    def turn_version(self, step: int) -> None:
        """Show the version before (-1) or after (1) the focused message, where there is more than one."""
        entry = self._transcript.focused_entry
        message = next((m for m in self.path if entry is not None and m.id == entry.key), self.last("assistant"))
        if message is None:
            return
        versions = [version.id for version in self.session.memory.chats.siblings(message.id)]
        if len(versions) < 2:
            return
        chosen = versions[(versions.index(message.id) + step) % len(versions)]
        self.refresh(self.session.memory.chats.newest_leaf(chosen).id)
        self._transcript.focus_on(next((e for e in self._transcript.entries if e.key == chosen), None))

    # Talking

    async def follow(self, events: AsyncGenerator[Event, None]) -> None:
        """Draw one turn as it happens. Cancelling stops the answer, which is kept."""
        self.progress = Progress(writing=True, context=self.progress.context)
        self._extra = []
        self.failure = ""
        self.remembered = None
        self._changed()
        answer_id: str | None = None
        try:
            async with aclosing(events) as stream:
                async for event in stream:
                    if isinstance(event, Started):
                        answer_id = event.answer_id
                    self._happened(event)
        finally:
            self.progress.writing = False
            self._transcript.finish()
            self._live = None
            if answer_id is not None:
                self.refresh(answer_id)
            self._add_extra(answer_id)
            self._changed()

    def _happened(self, event: Event) -> None:
        text = self.session.catalogue.text
        match event:
            case Started():
                self._begin(event)
            case Token(piece):
                self._token(piece)
            case Queued(place):
                self._note(self._makers.dim(text("screen.queued", place=place)))
            case Thinking():
                self._note(self._makers.dim(text("screen.thinking_first")))
            case Trimmed(turns):
                self._note(self._makers.dim(text("screen.trimmed", number=turns)), keep=True)
            case Recalled(lessons, facts):
                self._title(lessons=len(lessons), facts=len(facts))
            case Remembered():
                self._remembered(event)
            case ToolCalled(name, arguments):
                what = ", ".join(clean(value) for value in arguments.values())
                self._note(self._makers.dim(text("screen.tool_running", name=clean(name), what=what)))
            case ToolReturned():
                self._title(sources=len(event.sources))
                self._note(self._makers.dim(text("screen.reading_tool")))
            case Sources():
                pass
            case Done():
                usage = event.usage
                if usage is not None:
                    self.progress.speed = usage.tokens_per_second
                    self.progress.context = (usage.prompt_tokens + usage.answer_tokens) / usage.context_size
            case Failed(error, None):
                self.failure = str(explain(error, self.session.catalogue))
            case Failed():
                # It is stored with the answer, and shown with it.
                pass

    def _remembered(self, event: Remembered) -> None:
        self.remembered = event
        if self.session.settings.assistant.tell_remembered and not event.asked:
            for sentence in told(event, self.session.catalogue):
                self._note(self._makers.dim(sentence), keep=True)

    def _begin(self, event: Started) -> None:
        self.conversation_id = event.conversation_id
        chats = self.session.memory.chats
        self.path = chats.path(event.conversation_id, event.answer_id)
        self._transcript.update(self._entries(self.path[:-1]))
        self._transcript.following = True
        self._live = self._makers.live(event.answer_id, event.snapshot, self._clock())
        self._cleaner = StreamCleaner()
        self._transcript.begin(self._live)
        self._transcript.focus_on(self._live, visible=False)
        self._changed()

    def _token(self, piece: str) -> None:
        progress = self.progress
        if not progress.tokens:
            progress.first_at = time.monotonic()
            if self._live is not None and self._live.notes:
                self._live.notes = tuple(self._extra)
                self._transcript.changed(self._live)
        progress.tokens += 1
        elapsed = time.monotonic() - progress.first_at
        if elapsed > 0:
            progress.speed = (progress.tokens - 1) / elapsed
        self._transcript.stream(self._cleaner.feed(piece))

    def _title(self, *, lessons: int = 0, facts: int = 0, sources: int = 0) -> None:
        if self._live is not None:
            snapshot = self.path[-1].snapshot
            self._live.title = self._makers.title(snapshot, lessons=lessons, facts=facts, sources=sources)
            self._transcript.changed(self._live)

    def _note(self, note: tuple[Span, ...], *, keep: bool = False) -> None:
        """Say something under the answer until its first word, or with ``keep`` until it is drawn anew."""
        if keep:
            self._extra.append(note)
        if self._live is not None:
            self._live.notes = (*self._extra, *(() if keep else (note,)))
            self._transcript.changed(self._live)

    def _add_extra(self, answer_id: str | None) -> None:
        """What is said of this turn but not stored with it: what was left out of the context."""
        entry = next((e for e in self._transcript.entries if e.key == answer_id), None)
        if self._extra and entry is not None:
            entry.notes = (*entry.notes, *self._extra)
            self._transcript.changed(entry)

    def _entries(self, path: list[ChatMessage]) -> list[Entry]:
        if not path or self.conversation_id is None:
            return []
        beside: dict[tuple[str | None, str], list[str]] = {}
        for message in self.session.memory.chats.messages(self.conversation_id):
            beside.setdefault((message.parent_id, message.role), []).append(message.id)
        made: list[Entry] = []
        for message in path:
            versions = beside[message.parent_id, message.role]
            place = (versions.index(message.id) + 1, len(versions))
            entry = self._makers.entry(message, version=place, taught=self._taught(message))
            if message.meta.get("lessons") or message.meta.get("facts"):
                entry.notes = (*self._makers.recalled_notes(sources_of(self.session, message)), *entry.notes)
            made.append(entry)
        return made

    def _taught(self, message: ChatMessage) -> Taught:
        """Whom the lesson of a corrected answer is for; its member alone where there is none (any more)."""
        lesson_id = message.meta.get("lesson")
        if lesson_id is None:
            return "private"
        found = [lesson for lesson in self.session.memory.lessons.list() if lesson.id == lesson_id]
        if not found or found[0].visibility != "shared":
            return "private"
        return "waiting" if lesson_id in self.session.household.approvals.waiting_ids() else "shared"


def _context(path: list[ChatMessage]) -> float | None:
    """The share of the model's context that the last answer and what was before it take."""
    for message in reversed(path):
        meta = message.meta
        if meta.get("context_size"):
            return (float(meta["prompt_tokens"]) + float(meta["answer_tokens"])) / float(meta["context_size"])
    return None
