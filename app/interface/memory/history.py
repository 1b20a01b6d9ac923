"""The conversations: every one, or the messages that hold some words, which are marked; Enter goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual import on

from app.history import Around, Passage, Passages, around, history
from app.interface.excerpt import excerpt, marked_text
from app.interface.memory.place import Place, Wanted
from app.interface.memory.searched_pane import SearchedPane
from app.interface.paged_list import PagedList, Rows
from app.interface.times import day, day_and_time
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue

# Messages of a conversation that are shown beside the list; Enter shows all.
_SHOWN: Final = 12


class HistoryRows:
    """Two lines each: when and in which conversation, and what was found."""

    def __init__(self, passages: Passages, catalogue: Catalogue) -> None:
        self.passages = passages
        self._catalogue = catalogue

    def __len__(self) -> int:
        return len(self.passages)

    def page(self, start: int, stop: int, width: int) -> Sequence[Text]:
        return [self._row(passage, width) for passage in self.passages.passages(start, stop)]

    def _row(self, passage: Passage, width: int) -> Text:
        row = Text(clean(passage.conversation.title).replace("\n", " ") or self._catalogue.text("screen.untitled"))
        if passage.message is None:
            row.truncate(width, overflow="ellipsis")
            return row.append("\n" + day_and_time(passage.at), "dim")
        when = day(passage.at)
        row.truncate(max(1, width - len(when) - 1), overflow="ellipsis", pad=True)
        row.append(f" {when}\n", "dim")
        return row.append_text(excerpt(passage.excerpt, passage.marks, width))


class HistoryPane(SearchedPane):
    """A list on the left, what is to be read on the right."""

    NAME = "history"
    LINES = 2

    def find(self, words: str) -> Rows:
        return HistoryRows(
            history(self.app.session.memory.chats, words, self.app.settings.found_in_history), self.app.catalogue
        )

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        passage = self._passage(rows, place)
        if passage is None:
            return Text()
        found = around(self.app.session.memory.chats, passage, self.searched, _SHOWN)
        told = Text(clean(passage.conversation.title) or self.app.catalogue.text("screen.untitled"), "bold")
        told = Text.assemble(told, "\n", (day_and_time(passage.at), "dim"), "\n\n")
        return told.append_text(self._said(found))

    def _said(self, found: Around) -> Text:
        text, told = self.app.catalogue.text, Text()
        for message, marks in zip(found.messages, found.marks, strict=True):
            who = text("screen.you" if message.role == "user" else "screen.assistant")
            told.append(who, "bold").append(f" · {day_and_time(message.created_at)}\n", "dim")
            told.append_text(marked_text(message.content, marks)).append("\n\n")
        if found.more:
            told.append(self.app.catalogue.count("screen.memory.history.more", found.more), "dim")
        return told

    @on(PagedList.Selected)
    def _go(self, event: PagedList.Selected) -> None:
        if self.rows is not None and event.place is not None:
            passage = self._passage(self.rows, event.place)
            if passage is not None:
                message = passage.message.id if passage.message is not None else None
                self.post_message(Wanted(Place(passage.conversation.id, message)))

    @staticmethod
    def _passage(rows: Rows, place: int) -> Passage | None:
        """What is at a place; None where it has been deleted meanwhile, elsewhere."""
        found = rows.passages.passages(place, place + 1) if isinstance(rows, HistoryRows) else []
        return found[0] if found else None
