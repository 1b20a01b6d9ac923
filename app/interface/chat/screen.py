"""The chat screen: its keys, its opening, and the way to the other screens."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from app.interface import themes
from app.interface.actions import ACTIONS
from app.interface.chat.answer_actions import AnswerActions
from app.interface.chat.bar import Bar
from app.interface.chat.conversation_actions import ConversationActions
from app.interface.chat.correction import Correction
from app.interface.chat.corrections import Corrections
from app.interface.chat.talk import Talk
from app.terminal_text import clean

if TYPE_CHECKING:
    from textual import events


class ChatScreen(AnswerActions, ConversationActions):
    """What a member sees most of the time. It is drawn before anything is opened; ``opened`` fills it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(action.key, action.name, show=False, priority=action.key != "escape")
            for action in ACTIONS
            if action.key
        ),
        Binding("ctrl+z", "undo", show=False),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
    ]

    def on_mount(self) -> None:
        self.side.styles.width = self.app.settings.side_width
        self.composer.focus()
        if self.app.is_open:
            self.composer.load_text(self.app.drafts.take(self.app.session.whoever.id))
            self.opened()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width <= self.app.settings.narrow_width, "narrow")

    def opened(self) -> None:
        """The house is open: fill the screen."""
        session = self.app.session
        self._talk = Talk(session, self.transcript, self.say_status, self.app.clock)
        self._corrections = Corrections(self.query_one(Correction), self.transcript, self._talk)
        self.show_member()
        self.refresh_side()
        if not self.show_card():
            self._welcome()
        self.set_interval(self.app.settings.status_seconds, self.look)
        self.look()
        self.app.locking.papers.begin(session)
        self.ask_early()

    def show_member(self) -> None:
        """Say at the top who sits here."""
        member = self.app.session.household.members.get(self.app.session.member.id)
        self.query_one("#header", Bar).say(
            right=self.app.catalogue.text("screen.member_menu", name=clean(member.name)),
            colour=themes.of_member(member.colour, self.app.theme_choice),
        )

    def _welcome(self) -> None:
        name = clean(self.app.session.member.name)
        self.notice.say(self.app.catalogue.text("screen.welcome", name=name))

    def action_stop(self) -> None:
        if self.has_class("side-shown"):
            self.action_side()
        else:
            super().action_stop()

    @on(Bar.RightClicked, "#header")
    def action_members(self) -> None:
        if self.ready() is not None:
            self.app.choose_member()

    @on(Bar.RightClicked, "#status")
    def action_help(self) -> None:
        self.app.show_help()

    def action_menu(self) -> None:
        self.app.action_command_palette()

    def action_learning(self) -> None:
        if self._talk is not None:
            self.app.show_learning()

    def action_memory(self) -> None:
        if self._talk is not None:
            self.app.show_memory()

    def action_lock(self) -> None:
        self.app.locking.lock()

    def action_theme(self) -> None:
        self.app.change_theme()
        if self._talk is not None:
            self.show_member()
        self.say("screen.theme_changed", name=self.app.catalogue.text(f"screen.themes.{self.app.theme_choice}"))

    async def action_quit(self) -> None:
        await self.app.action_quit()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While an answer is corrected, its editor has the keys."""
        editing = self._corrections is not None and self._corrections.answer is not None
        everywhere = {known.name for known in ACTIONS if known.writing}
        return not editing or action in everywhere or action not in {a.name for a in ACTIONS} | {"page"}
