"""What can be done with the conversations: begin, find, open, delete, undo."""

from __future__ import annotations

from textual import on

from app.forgetting import facts_of
from app.interface.chat.composer import Composer
from app.interface.chat.morning import Morning
from app.interface.chat.side import Side


class ConversationActions(Morning):
    """The side list and its keys."""

    async def action_new(self) -> None:
        talk = await self.freed()
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
    def _searched(self, event: Side.Searched) -> None:
        self._entered = False
        if self._talk is None:
            return
        if event.text.strip():
            self.search_side(self.app.settings.search_seconds)
        else:
            self.refresh_side()

    @on(Side.Entered)
    def _enter(self) -> None:
        if self._talk is not None:
            self._entered = True
            self.search_side()

    @on(Side.Chosen)
    async def _chosen(self, event: Side.Chosen) -> None:
        talk = await self.freed()
        if talk is None:
            return
        self.notice.clear()
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
        talk = self.ready()
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
        remembered = len(facts_of(self.app.session, conversation_id))
        words = self.app.catalogue
        left = words.count("screen.deleted_remembered", remembered) if remembered else words.text("screen.deleted")
        self.tell(left, undo=back)

    @on(Side.UndoWanted)
    @on(Composer.UndoWanted)
    def action_undo(self) -> None:
        if not self._undo:
            if not self.undo_card():
                self.say("screen.nothing_to_undo")
            return
        self._undo.pop()()
        self.refresh_side()
        self.say("screen.undone")
