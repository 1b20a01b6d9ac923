"""The chat screen: its parts, its keys, and what each action does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.widgets import Static

from app.errors_text import explain
from app.interface.actions import ACTIONS
from app.interface.chat import status
from app.interface.chat.bar import Bar
from app.interface.chat.composer import Composer
from app.interface.chat.correction import Correction, CorrectionText
from app.interface.chat.corrections import Corrections
from app.interface.chat.listing import listed
from app.interface.chat.notice import Notice
from app.interface.chat.side import Side
from app.interface.chat.talk import Progress, Talk
from app.interface.transcript import Transcript
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from textual import events

    from app.assistant.events import Event
    from app.interface.app import EnlaceApp
    from memory.chats import ChatMessage


class ChatScreen(Screen[None]):
    """What a member sees most of the time. It is drawn before anything is opened; ``opened`` fills it."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(action.key, action.name, show=False, priority=action.key not in ("escape", "ctrl+z"))
            for action in ACTIONS
            if action.key
        ),
        Binding("ctrl+z", "undo", show=False),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._talk: Talk | None = None
        self._corrections: Corrections | None = None
        self._facts: status.Facts | None = None
        self._rephrasing: str | None = None
        self._early = ""
        self._undo: list[Callable[[], None]] = []

    def compose(self) -> ComposeResult:
        text, settings = self.app.catalogue.text, self.app.settings
        yield Bar(f"{text('screen.title')} · {text('screen.household')}", strong=True, id="header")
        with Horizontal(id="middle"):
            yield Side(self.app.catalogue, settings.lessons_for_training, settings.side_width, id="side")
            with Container(id="talk"):
                yield Transcript(settings, id="transcript")
                yield Correction(self.app.catalogue, id="correction")
        yield Notice(settings.undo_seconds, id="notice")
        with Horizontal(id="write"):
            yield Static("›", id="prompt", markup=False)
            yield Composer(text("screen.write_here"), settings.composer_lines, id="composer")
            yield Static(text("screen.composer_keys"), id="composer-keys", markup=False)
        yield Bar(text("screen.status.opening"), text("screen.status.help"), id="status")

    # The parts

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

    # Opening

    def on_mount(self) -> None:
        self.side.styles.width = self.app.settings.side_width
        self.composer.focus()
        if self.app.is_open:
            self.opened()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width <= self.app.settings.narrow_width, "narrow")

    def opened(self) -> None:
        """The house is open: fill the screen."""
        session = self.app.session
        self._talk = Talk(session, self.transcript, self._say_status, self.app.clock)
        self._corrections = Corrections(self.query_one(Correction), self.transcript, self._talk)
        self.query_one("#header", Bar).say(
            right=self.app.catalogue.text("screen.member_menu", name=clean(session.member.name))
        )
        self.refresh_side()
        self._welcome()
        self.set_interval(self.app.settings.status_seconds, self._look)
        self._look()
        if self._early:
            self._submitted(Composer.Submitted(self._early))

    def _welcome(self) -> None:
        name = clean(self.app.session.member.name)
        self.notice.say(self.app.catalogue.text("screen.welcome", name=name))

    def refresh_side(self) -> None:
        """List what there is now."""
        session = self.app.session
        talk = self._talk
        rows = listed(session.memory.chats, self.side.search_text, self.app.settings)
        self.side.show(rows, talk.conversation_id if talk else None, self.app.clock())
        self.side.tonight(len(session.household.lessons_for_training()))

    @work(exclusive=True, group="status")
    async def _look(self) -> None:
        try:
            self._facts = await status.look(self.app.session)
        except EnlaceError as error:
            self.explain(error)
        self._say_status()

    def _say_status(self) -> None:
        progress = self._talk.progress if self._talk else Progress()
        self.query_one("#status", Bar).say(status.sentence(self._facts, progress, self.app.catalogue))
        keys = "composer_stop" if progress.writing else "composer_keys"
        self.query_one("#composer-keys", Static).update(self.app.catalogue.text(f"screen.{keys}"))

    def explain(self, error: EnlaceError) -> None:
        """Tell of an error in the quiet line."""
        self.notice.say(str(explain(error, self.app.catalogue)), problem=True)

    def say(self, key: str, *, undo: Callable[[], None] | None = None, problem: bool = False, **facts: object) -> None:
        """Show a text of the catalogue in the quiet line; ``undo`` takes back what it tells of."""
        if undo is not None:
            self._undo.append(undo)
        undo_key = self.app.catalogue.text("screen.undo") if undo else ""
        self.notice.say(self.app.catalogue.text(key, **facts), problem=problem, undo=undo_key)

    # Asking

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        if self._talk is None:
            # Nobody waits for the house to open: the question is asked as soon as it is.
            self._early = event.text
            self.composer.load_text("")
            return
        talk = self._ready()
        if talk is None:
            return
        self.notice.clear()
        self.composer.load_text("")
        if self._rephrasing is not None:
            question, self._rephrasing = self._rephrasing, None
            self._follow(talk, talk.assistant.edit(question, event.text), event.text)
        else:
            leaf = talk.path[-1].id if talk.path else None
            asked = talk.assistant.ask(event.text, conversation_id=talk.conversation_id, parent_id=leaf)
            self._follow(talk, asked, event.text)

    def _ready(self) -> Talk | None:
        """The conversation if it can take a question now; says so when not."""
        if self._talk is None:
            self.say("screen.starting")
        elif self._talk.progress.writing:
            self.say("screen.not_while_writing")
        else:
            return self._talk
        return None

    @work(exclusive=True, group="answer")
    async def _follow(self, talk: Talk, asked: AsyncGenerator[Event, None], text: str = "") -> None:
        try:
            await talk.follow(asked)
        finally:
            if talk.failure:
                # Nothing was stored: the words go back to where they were written.
                self.notice.say(talk.failure, problem=True)
                self.composer.load_text(text)
            self.refresh_side()
            self._look()

    def action_stop(self) -> None:
        if self.has_class("side-shown"):
            self.action_side()
        elif self._rephrasing is not None:
            self._rephrasing = None
            self.composer.load_text("")
            self.notice.clear()
        elif self._talk is not None and self._talk.progress.writing:
            self.workers.cancel_group(self, "answer")
        else:
            self.notice.clear()
            self.composer.focus()

    async def stop_and_wait(self) -> None:
        """Stop an answer that is being written and wait until it is stored."""
        working = [worker for worker in self.workers if worker.group == "answer" and worker.node is self]
        self.workers.cancel_group(self, "answer")
        for worker in working:
            if not worker.is_finished:
                await self.workers.wait_for_complete([worker])

    # Answers

    def action_correct(self) -> None:
        answer = self._answer()
        if answer is not None and self._corrections is not None:
            self._corrections.open(answer, shared=self.app.settings.share_corrections)

    @on(CorrectionText.Done)
    def _corrected(self, event: CorrectionText.Done) -> None:
        corrections = self._corrections
        if corrections is None or corrections.answer is None:
            return
        try:
            corrections.close(event.text)
        except EnlaceError as error:
            self.explain(error)
            return
        self.composer.focus()
        if event.text is not None:
            self.refresh_side()
            self.say("screen.saved")

    def action_retry(self) -> None:
        talk, answer = self._ready(), self._answer()
        if talk is not None and answer is not None and answer.parent_id is not None:
            self._follow(talk, talk.assistant.retry(answer.parent_id))

    def action_good(self) -> None:
        self._rate(1)

    def action_bad(self) -> None:
        self._rate(-1)

    def _rate(self, rating: int) -> None:
        answer, talk = self._answer(), self._talk
        if answer is None or talk is None:
            return
        try:
            talk.assistant.rate(answer.id, 0 if answer.rating == rating else rating)
        except EnlaceError as error:
            self.explain(error)
        talk.refresh()

    def action_copy(self) -> None:
        selected = self.get_selected_text()
        entry = self.transcript.focused_entry
        text = selected or (entry.text if entry else "")
        if text:
            self.app.copy_to_clipboard(text)
        self.say("screen.copied" if text else "screen.nothing_to_copy")

    def _answer(self) -> ChatMessage | None:
        """The focused answer, or the last; None (and a word about it) where there is none or it is being written."""
        talk = self._talk
        if talk is not None and talk.progress.writing:
            self.say("screen.not_while_writing")
            return None
        answer = talk.focused("assistant") if talk else None
        if answer is None:
            self.say("screen.no_answer_here")
        return answer

    # Questions and branches

    @on(Composer.LastWanted)
    def action_rephrase(self) -> None:
        talk = self._ready()
        question = talk.focused("user") if talk else None
        if question is None:
            return
        self._rephrasing = question.id
        self.composer.load_text(question.content)
        self.composer.move_cursor(self.composer.document.end)
        self.composer.focus()
        self.say("screen.editing_question")

    def action_previous_version(self) -> None:
        self._turn_version(-1)

    def action_next_version(self) -> None:
        self._turn_version(1)

    def _turn_version(self, step: int) -> None:
        talk = self._ready()
        if talk is not None:
            talk.turn_version(step)

    def action_previous_entry(self) -> None:
        self._step_focus(-1)

    def action_next_entry(self) -> None:
        self._step_focus(1)

    def _step_focus(self, step: int) -> None:
        entries, focused = self.transcript.entries, self.transcript.focused_entry
        if entries:
            at = entries.index(focused) if focused in entries else len(entries)
            self.transcript.focus_on(entries[max(0, min(len(entries) - 1, at + step))])

    def action_page(self, step: int) -> None:
        move = self.transcript.scroll_page_up if step < 0 else self.transcript.scroll_page_down
        move(animate=False)

    @on(Transcript.FollowChanged)
    def _follow_changed(self, event: Transcript.FollowChanged) -> None:
        if not event.following and self._talk is not None and self._talk.progress.writing:
            self.say("screen.more_below")

    # Conversations

    def action_new(self) -> None:
        talk = self._ready()
        if talk is not None:
            talk.open(None)
            self.refresh_side()
            self.notice.clear()
            self.composer.focus()

    def action_search(self) -> None:
        if self.has_class("narrow"):
            self.add_class("side-shown")
        self.remove_class("side-hidden")
        self.side.focus_search()

    def action_side(self) -> None:
        narrow = self.has_class("narrow")
        self.toggle_class("side-shown" if narrow else "side-hidden")
        if narrow and self.has_class("side-shown"):
            self.side.query_one("#conversations").focus()
        else:
            self.composer.focus()

    @on(Side.Searched)
    def _searched(self) -> None:
        if self._talk is not None:
            self.refresh_side()

    @on(Side.Chosen)
    def _chosen(self, event: Side.Chosen) -> None:
        talk = self._ready()
        if talk is None:
            return
        self.remove_class("side-shown")
        talk.open(event.conversation_id, event.message_id)
        found = next((e for e in self.transcript.entries if e.key == event.message_id), None)
        if found is not None:
            self.transcript.focus_on(found)
        self.refresh_side()
        self.composer.focus()

    @on(Side.DeleteWanted)
    def _delete_wanted(self, event: Side.DeleteWanted) -> None:
        self._delete(event.conversation_id)

    def action_delete(self) -> None:
        if self._talk is not None and self._talk.conversation_id is not None:
            self._delete(self._talk.conversation_id)

    def _delete(self, conversation_id: str) -> None:
        talk = self._ready()
        if talk is None:
            return
        chats = self.app.session.memory.chats
        chats.delete(conversation_id)
        was_open = talk.conversation_id == conversation_id
        if was_open:
            talk.open(None)

        def back() -> None:
            chats.restore(conversation_id)
            if was_open:
                talk.open(conversation_id)

        self.refresh_side()
        self.say("screen.deleted", undo=back)

    @on(Side.UndoWanted)
    @on(Composer.UndoWanted)
    def action_undo(self) -> None:
        if not self._undo:
            self.say("screen.nothing_to_undo")
            return
        self._undo.pop()()
        self.refresh_side()
        self.say("screen.undone")

    # Elsewhere

    @on(Bar.RightClicked, "#header")
    def action_members(self) -> None:
        if self._ready() is not None:
            self.app.choose_member()

    @on(Bar.RightClicked, "#status")
    def action_help(self) -> None:
        self.app.show_help()

    def action_menu(self) -> None:
        self.app.action_command_palette()

    def action_learning(self) -> None:
        if self._talk is not None:
            self.app.show_learning()

    def action_theme(self) -> None:
        self.app.change_theme()
        self.say("screen.theme_changed", name=self.app.catalogue.text(f"screen.themes.{self.app.theme_choice}"))

    async def action_quit(self) -> None:
        await self.app.action_quit()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While an answer is corrected, its editor has the keys."""
        editing = self._corrections is not None and self._corrections.answer is not None
        everywhere = {known.name for known in ACTIONS if known.writing}
        return not editing or action in everywhere or action not in {a.name for a in ACTIONS} | {"page"}
