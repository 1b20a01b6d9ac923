"""The documents: how it stands with each, what went wrong and why, and what was found in it, with page and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from app.document_story import sentences
from app.documents import all_states, forget_document
from app.graph_words import source_text, statement_text
from app.interface.listed_rows import ListedRows
from app.interface.memory.searched_pane import SearchedPane
from app.interface.paged_list import PagedList, Rows
from app.interface.said import Said
from app.terminal_text import clean
from configs.errors import EnlaceError
from memory.text import fold

if TYPE_CHECKING:
    from memory.documents.states import DocumentState

_MARKS: Final = {"waiting": "◌", "reading": "⟳", "read": "✓", "problem": "⚠", "replaced": "·"}
_SHOWN: Final = 200  # things that a document says; how many more it says is told


class DocumentRows(ListedRows["DocumentState"]):
    """A line each: how it stands, and its name."""

    def row(self, each: DocumentState) -> Text:
        row = Text(f"{_MARKS[each.state]} {clean(each.name)}".replace("\n", " "))
        return row.append(f" · {self.catalogue.text(f'command.documents.states.{each.state}')}", "dim")


class DocumentListing(PagedList):
    """The rows; Delete twice forgets the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("delete", "remove", show=False)]

    def action_remove(self) -> None:
        next(each for each in self.ancestors if isinstance(each, DocumentsPane)).remove_chosen()


class DocumentsPane(SearchedPane):
    """A list on the left, the chosen document on the right."""

    NAME = "documents"

    def __init__(self) -> None:
        super().__init__()
        self._sure = ""

    def listing_widget(self) -> PagedList:
        return DocumentListing()

    def find(self, words: str) -> Rows:
        wanted = fold(words).split()
        found = [each for each in all_states(self.app.session) if each.state != "replaced"]
        return DocumentRows([each for each in found if all(w in fold(each.name) for w in wanted)], self.app.catalogue)

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        each = _at(rows, place)
        if each is None:
            return Text()
        session, words = self.app.session, self.app.catalogue
        names = {member.id: member.name for member in session.household.members.list()}
        told = Text.assemble((clean(each.name), "bold"), "\n")
        state = words.text(f"command.documents.states.{each.state}")
        seen = words.text(f"screen.memory.facts.seen_{each.visibility}")
        told.append(f"{_MARKS[each.state]} {state} · {seen}\n", "dim")
        told.append(self.words("added_by", name=clean(names.get(each.added_by, "?"))) + "\n", "dim")
        for path in each.paths:
            told.append(clean(path) + "\n", "dim")
        for sentence in sentences(session, each):
            told.append(f"\n⚠ {clean(sentence)}\n")
        said = session.memory.papers.graph.said_in(each.visibility, each.id, _SHOWN) if each.id else []
        told.append("\n" + words.count("screen.memory.documents.found", each.statements) + "\n", "bold")
        for statement in said:
            here = [evidence for evidence in statement.evidence if evidence.document == each.id]
            told.append(f"· {statement_text(statement, words)}")
            told.append(f"{source_text(here, words)}\n", "dim")
            for evidence in here[:1]:
                told.append(f"  «{clean(evidence.words)}»\n".replace("\n", " ").rstrip() + "\n", "italic dim")
        if each.statements > len(said):
            told.append(words.count("screen.memory.documents.more", each.statements - len(said)) + "\n", "dim")
        return told

    def remove_chosen(self) -> None:
        """Forget it, and all that was found in it, once somebody has asked for it twice: it cannot be undone."""
        place = self.listing.highlighted
        each = None if place is None or self.rows is None else _at(self.rows, place)
        if each is None or not each.id:
            return
        if self._sure != each.id:
            self._sure = each.id
            self.say(self.words("sure", name=clean(each.name)))
            return
        self._sure = ""
        try:
            forget_document(self.app.session, each)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        self.search_again()
        self.say(self.words("removed", name=clean(each.name)))


def _at(rows: Rows, place: int) -> DocumentState | None:
    return rows.at(place) if isinstance(rows, DocumentRows) else None
