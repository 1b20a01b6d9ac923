"""What a member is told of weights that changed: the morning card, and a snapshot that was gone back from."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work

from app.going_back import go_back, keep_probation
from app.interface import choices
from app.interface.chat.card import card_entry
from app.interface.chat.parts import ChatParts
from app.probation_text import gone
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.entries import Entry
    from app.report.card import Card
    from memory.moves import Move

_log = logging.getLogger(__name__)


class Morning(ChatParts):
    """The card lies in an empty conversation until the first question, or until another conversation is opened."""

    def __init__(self) -> None:
        super().__init__()
        self._card: tuple[Card, Entry] | None = None
        self._told: Move | None = None

    def another_answers(self) -> None:
        """Another snapshot answers than a moment ago: tell of it, where nobody did that here."""
        move = self.app.session.household.snapshots.history()[0]
        if move == self._told:
            return
        self._told = move
        if move.evidence and move.previous is not None:
            self.tell(gone(self.app.catalogue, move), undo=self._serving(move.previous), problem=True)
        elif move.kind == "promote":
            self.show_card()

    def show_card(self) -> bool:
        """Show the card of the last training that came to a verdict, unless the member was shown it; whether it was.

        While a conversation is open, a word about it has to do.
        """
        from app.report.card import card_of, latest_judged
        from app.report.card_words import headline

        session = self.app.session
        run = latest_judged(session)
        if run is None or run.id == choices.told_of(session.home, session.member.id):
            return False
        card = card_of(session, run)
        if self._talk is None or self._talk.path or self._talk.progress.writing:
            self.tell(headline(self.app.catalogue, card, session.member.name))
            return False
        entry = card_entry(card, self.app.catalogue, session.member.name)
        self._card = (card, entry)
        # From its beginning on, also where it is longer than the screen.
        self.transcript.following = False
        self.transcript.update([entry])
        try:
            choices.keep_told_of(session.home, session.member.id, run.id)
        except EnlaceError:
            _log.warning("that a member was told of a training could not be kept", exc_info=True)
        return True

    def undo_card(self) -> bool:
        """Go back from what the card tells of, while it is to be seen; whether there was anything to go back from."""
        if self._card is None or self._card[1] not in self.transcript.entries or self._card[0].back is None:
            return False
        card, _ = self._card
        self._card = None
        self.transcript.update([])
        if card.run.member is not None:
            try:
                self.app.session.memory.private.rollback()
            except EnlaceError as error:
                self.explain(error)
            else:
                self.say("card.undone_private")
        elif card.run.snapshot is not None:
            self._go_back(card.back, self._serving(card.run.snapshot))
        return True

    @work(group="probation")
    async def keep_probation(self) -> None:
        """See whether a new snapshot is to go, now that the member said what they think of an answer, or got one."""
        try:
            gone_back = await keep_probation(self.app.session)
        except EnlaceError as error:
            self.explain(error)
            return
        if gone_back is not None:
            self.another_answers()

    @work(group="serve")
    async def _go_back(self, to: str, undo: Callable[[], None] | None = None) -> None:
        text = self.app.catalogue.text
        try:
            target = await go_back(self.app.session, text("card.reason" if undo else "probation.wanted"), to)
        except EnlaceError as error:
            self.explain(error)
            return
        self.say("card.undone", snapshot=target.id, undo=undo)

    def _serving(self, snapshot: str) -> Callable[[], None]:
        """What lets a snapshot answer again that was gone back from."""

        def back() -> None:
            self._go_back(snapshot)

        return back
