"""What can be done with an answer or a question on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from app.interface.chat.asking import Asking
from app.interface.chat.composer import Composer
from app.interface.chat.correction import CorrectionText
from app.interface.chat.sources_dialog import SourcesDialog
from app.recalled_sources import sources_of
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from memory.chats import ChatMessage


class AnswerActions(Asking):
    """Correct, ask again, rate, copy, rephrase, and go from version to version."""

    def action_correct(self) -> None:
        answer = self._answer()
        if answer is not None and self._corrections is not None:
            member = self.app.session.household.members.get(self.app.session.member.id)
            # A guest's word is not the house's unless they say so.
            shared = self.app.settings.share_corrections and member.standing != "guest"
            self._corrections.open(answer, shared=shared, waits=member.standing != "trusted")

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
            self.keep_probation()

    def action_retry(self) -> None:
        talk, answer = self.ready(), self._answer()
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
        self.keep_probation()

    def action_copy(self) -> None:
        selected = self.get_selected_text()
        entry = self.transcript.focused_entry
        text = selected or (entry.text if entry else "")
        if text:
            self.app.copy_to_clipboard(text)
        self.say("screen.copied" if text else "screen.nothing_to_copy")

    def action_recalled(self) -> None:
        """What the answer was reminded of: where it comes from, and what is wrong with it."""
        answer, session = self._answer(), self.app.session
        if answer is None:
            return
        if not sources_of(session, answer):
            self.say("screen.recalled.nothing")
            return
        dialog = SourcesDialog(self.app.catalogue, session, lambda: sources_of(session, answer))
        self.app.push_screen(dialog, self._go_to_source)

    def _go_to_source(self, message_id: str | None) -> None:
        if self._talk is None:
            return
        if message_id is not None:
            message = self.app.session.memory.chats.message(message_id)
            self._talk.open(message.conversation_id, message.id)
        self.refresh_side()

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
        talk = self.ready()
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
        talk = self.ready()
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
