"""The application: themes, screens and what happens when something goes wrong. The work is done in the screens."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual._context import active_message_pump
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import CommandPalette

from app.first_start import is_first
from app.interface import choices, themes
from app.interface.actions import ACTIONS
from app.interface.chat.screen import ChatScreen
from app.interface.drafts import Drafts
from app.interface.entering import Entering
from app.interface.errors import MemberGone
from app.interface.locking import Locking
from app.interface.palette import EnlaceCommands
from app.interface.terminal_driver import TerminalDriver
from configs.errors import EnlaceError
from memory.errors import FileNotWritten, MemberUnknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.actions import ActionParseResult
    from textual.dom import DOMNode

    from app.catalogue import Catalogue
    from app.first_start import ModelChoice
    from app.interface.memory.place import Place
    from app.session import Session
    from configs.sections.interface import InterfaceSettings

_log = logging.getLogger(__name__)
_LEAVING_SIGNALS = (signal.SIGHUP, signal.SIGTERM)


class EnlaceApp(App[int]):
    """One member's interface. It is painted first; home, memory and assistant are opened after that."""

    CSS_PATH = "enlace.tcss"
    COMMANDS: ClassVar = {EnlaceCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "copy_or_hint", show=False),
        # On every screen, also where a line is written.
        *(Binding(each.key, each.name, show=False, priority=True) for each in ACTIONS if each.name == "lock"),
    ]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, session: Session, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.session = session
        self.clock = clock
        self.is_open = False
        self.entering = Entering(self)
        self.catalogue: Catalogue = session.fallback_catalogue()
        self.settings: InterfaceSettings = session.settings.interface
        self.theme_choice = choices.chosen_theme(session.home, self.settings.theme)
        self.unexpected: Exception | None = None
        for choice in themes.COLOURS:
            self.register_theme(themes.theme(choice))
        self.theme = themes.theme_name(self.theme_choice)
        self.locking = Locking(self)
        self.drafts = Drafts()
        self.title = self.catalogue.text("screen.title")

    def on_mount(self) -> None:
        self.push_screen(ChatScreen())
        loop = asyncio.get_running_loop()
        for each in _LEAVING_SIGNALS:
            # The terminal was closed, or the machine goes down: keep what was written of an answer, then leave.
            loop.add_signal_handler(each, self.leave)
        self.set_interval(self.settings.status_seconds, self.locking.look)
        self.call_after_refresh(self.run_worker, self._open, exclusive=True, group="open")

    async def _open(self) -> None:
        """Open the house in a thread, so that the screen answers meanwhile."""
        try:
            wanted = await self._welcome() if await asyncio.to_thread(is_first, self.session) else None
            waits = await asyncio.to_thread(self._open_session)
        except EnlaceError as error:
            self._explain_and_leave(error)
            return
        if waits:
            self.catalogue = self.session.catalogue
            self.entering.enter(self.session)
        else:
            await self._opened(wanted)

    def _open_session(self) -> bool:
        """Whether whoever is named has to prove first that it is them."""
        if self.session.household.doors.waits_for(self.session.whoever.id):
            return True
        self.session.assistant()
        return False

    async def _opened(self, wanted: ModelChoice | None = None) -> None:
        self.is_open = True
        chat = self.chat()
        if self.session.language != self.catalogue.language or chat is None:
            self.catalogue = self.session.catalogue
            await self.switch_screen(ChatScreen())
        else:
            chat.opened()
        if wanted is not None:
            from app.interface.model_coming import ModelComing

            self.run_worker(ModelComing(self, wanted).come(), group="model")

    async def _welcome(self) -> ModelChoice | None:
        """Ask whoever comes first who they are; the model that is to answer, if not the one that is set up."""
        from app.interface.first_start import FirstStart

        return await self.push_screen_wait(FirstStart(self.session))

    async def sit_down(self, session: Session) -> None:
        """Have ``session``'s member, who has proven who they are, be whose interface this is from now on."""
        try:
            await asyncio.to_thread(session.assistant)
        except EnlaceError as error:
            told = self.locking.say if self.locking.locked else self.tell if self.is_open else self._explain_and_leave
            told(error)
            return
        await self.locking.give_up()
        before, self.session = self.session, session
        if not self.is_open:
            await self._opened()
            return
        self.catalogue = session.catalogue
        await self.begin_anew()
        if before.whoever.id != session.whoever.id:
            # Whoever sat here before is asked again.
            session.household.leave(before.whoever.id)

    def left_alone(self, error: EnlaceError) -> bool:
        """Whether an error came of somebody else having removed this member: then it is said, and the interface ends.

        Nobody else is put in their place: what another member keeps to themselves would be on this screen.
        """
        if not isinstance(error, MemberUnknown):
            return False
        member = self.session.whoever
        if any(each.id == member.id for each in self.session.household.members.list()):
            return False
        self._explain_and_leave(MemberGone(name=member.name))
        return True

    def _explain_and_leave(self, error: EnlaceError) -> None:
        from app.errors_text import explain
        from app.interface.dialogs import ErrorDialog

        if any(isinstance(screen, ErrorDialog) for screen in self.screen_stack):
            return
        explained = explain(error, self.catalogue)
        dialog = ErrorDialog(self.catalogue, explained.what, explained.next)
        self.push_screen(dialog, lambda _: self.exit(error.exit_code))

    # Leaving

    def leave(self) -> None:
        """Keep what was written of an answer, then end."""
        self.run_worker(self.action_quit(), exclusive=True, group="leave")

    async def action_quit(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, ChatScreen):
                await screen.stop_and_wait()
        self.exit(0)

    # Elsewhere

    def chat(self) -> ChatScreen | None:
        """The chat screen, wherever it is in the stack."""
        return next((screen for screen in self.screen_stack if isinstance(screen, ChatScreen)), None)

    def change_theme(self) -> None:
        """Light instead of dark, or the other way round; remembered."""
        self.theme_choice = "light" if self.theme_choice == "dark" else "dark"
        self.theme = themes.theme_name(self.theme_choice)
        try:
            choices.keep_theme(self.session.home, self.theme_choice)
        except FileNotWritten:
            _log.warning("the colours could not be kept", exc_info=True)

    def action_command_palette(self) -> None:
        if not self.locking.locked and not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            placeholder = self.catalogue.text("screen.palette.placeholder")
            self.push_screen(CommandPalette(id="--command-palette", placeholder=placeholder))

    def show_help(self) -> None:
        from app.interface.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.catalogue))

    def show_learning(self) -> None:
        from app.interface.learning.screen import LearningScreen

        def back(_: None) -> None:
            chat = self.chat()
            if chat is not None and chat.talk is not None:
                chat.talk.refresh()
                chat.refresh_side()

        self.push_screen(LearningScreen(), back)

    def show_memory(self) -> None:
        from app.interface.chat.side import Side
        from app.interface.memory.screen import MemoryScreen

        def back(place: Place | None) -> None:
            chat = self.chat()
            if place is not None and chat is not None:
                chat.post_message(Side.Chosen(place.conversation_id, place.message_id))

        self.push_screen(MemoryScreen(), back)

    def action_lock(self) -> None:
        self.locking.lock()

    def choose_member(self) -> None:
        """Ask who is here, and start afresh with them."""
        self.entering.choose()

    def action_copy_or_hint(self) -> None:
        """Ctrl+C copies what is selected; it never ends the program in the middle of a sentence."""
        chat = self.screen
        selected = chat.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
        if isinstance(chat, ChatScreen):
            chat.say("screen.copied" if selected else "screen.how_to_quit")

    # What nobody foresaw

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key asks for. Its errors are told here, since they would end the application's own loop."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:
            self.tell(error)
            return True

    def _handle_exception(self, error: Exception) -> None:
        """Say in a dialog that something went wrong and make the screen anew; never a traceback on the screen."""
        cause = getattr(error, "error", None) or error
        if self.unexpected is not None or not self._running or active_message_pump.get(None) is self:
            # There is nothing left to show a dialog on: the command says the sentence.
            self.unexpected = cause
            self._exception = self._exception or cause
            self._exception_event.set()
            self._return_code = 1
            self._close_messages_no_wait()
            return
        self.tell(cause)

    def tell(self, error: Exception) -> None:
        """Show what happened and what to do; then the chat screen, made anew. Behind a lock, to whoever comes in."""
        from app.errors_text import explain
        from app.interface.dialogs import ErrorDialog
        from app.unexpected import note_unexpected

        if isinstance(error, EnlaceError) and self.left_alone(error):
            return
        if self.locking.locked:
            self.locking.hold(error)
            return
        known = error if isinstance(error, EnlaceError) else note_unexpected(error, self.session.environ)
        explained = explain(known, self.catalogue)
        if not any(isinstance(screen, ErrorDialog) for screen in self.screen_stack):
            self.push_screen(ErrorDialog(self.catalogue, explained.what, explained.next), self._begin_anew)

    async def begin_anew(self) -> None:
        """The chat screen in the place of all there are; none of them is drawn in between."""
        with self.batch_update():
            while len(self.screen_stack) > 1:
                await self.pop_screen()
            await self.push_screen(ChatScreen())

    async def _begin_anew(self, _: None) -> None:
        self.drafts.keep(self.session.whoever.id, self.chat())
        await self.begin_anew()

    async def on_event(self, event: events.Event) -> None:
        """Somebody is at the keys or the mouse, unless they come so late that it has to lock first."""
        at_it = isinstance(event, events.InputEvent | events.Paste) and not event.is_forwarded
        if not at_it or self.locking.touched():
            await super().on_event(event)
