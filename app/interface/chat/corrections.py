"""Correcting an answer in its place: the editor lies where the answer's text was, and moves with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.interface.drawing import GUTTER

if TYPE_CHECKING:
    from app.interface.chat.correction import Correction
    from app.interface.chat.talk import Talk
    from app.interface.entries import Entry
    from app.interface.transcript import Transcript
    from memory.chats import ChatMessage

# Rows that the editor needs besides the text: the line that says who learns, and one to go on writing.
_EXTRA_ROWS: Final = 2
_FEWEST_ROWS: Final = 5


class Corrections:
    """``answer`` is the one being corrected, or None."""

    def __init__(self, editor: Correction, transcript: Transcript, talk: Talk) -> None:
        self.answer: ChatMessage | None = None
        self._entry: Entry | None = None
        self._editor = editor
        self._transcript = transcript
        self._talk = talk
        editor.watch(transcript, "scroll_y", self._follow_scrolling, init=False)
        editor.watch(transcript, "size", self._follow_scrolling, init=False)

    def open(self, answer: ChatMessage, *, shared: bool, waits: bool) -> None:
        """Make an answer on the screen editable. ``waits``: what is shared of it is trained once it is approved."""
        entry = self._talk.entry_of(answer)
        if entry is None:
            return
        self.answer, self._entry = answer, entry
        _, rows = self._transcript.rows_of(entry)
        most = max(_FEWEST_ROWS, self._transcript.size.height - 2)
        entry.reserved = min(most, max(_FEWEST_ROWS, rows + _EXTRA_ROWS))
        self._transcript.following = False
        self._transcript.changed(entry)
        self._transcript.focus_on(entry, visible=False)
        self._transcript.bring(entry)
        self._place()
        self._editor.open(entry.text, shared=shared, waits=waits)

    def close(self, text: str | None) -> None:
        """Save ``text`` as what the answer should have been; None leaves the answer as it was.

        Raises what ``Assistant.correct`` raises, with the editor still open.
        """
        if self.answer is None or self._entry is None:
            return
        if text is not None:
            self._talk.assistant.correct(self.answer.id, text, shared=self._editor.shared)
        question, entry = self.answer.parent_id, self._entry
        self.answer = self._entry = None
        self._editor.display = False
        entry.reserved = 0
        self._transcript.changed(entry)
        if text is not None and question is not None:
            # The correction is the newest answer to its question.
            self._talk.refresh(self._talk.session.memory.chats.newest_leaf(question).id)
            self._transcript.focus_on(self._talk.entry_of(self._talk.last("assistant")))

    def _follow_scrolling(self) -> None:
        if self.answer is not None:
            self._place()

    def _place(self) -> None:
        if self._entry is None or self._entry not in self._transcript.entries:
            return
        row, rows = self._transcript.rows_of(self._entry)
        padding = self._transcript.styles.padding
        left, top = padding.left + GUTTER - 1, padding.top + row - self._transcript.scroll_offset.y
        self._editor.styles.offset = (left, top)
        self._editor.styles.height = rows
        self._editor.styles.width = self._transcript.reading_width + 2
