"""Members, and whom and what words and documents name; two of one name are one, or two, when somebody says so."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from app.graph_drawing import draw
from app.graph_words import join_text, statement_text
from app.interface.listed_rows import ListedRows
from app.interface.memory.kept_facts import KeptFacts
from app.interface.memory.searched_pane import SearchedPane
from app.interface.paged_list import PagedList, Rows
from app.interface.said import Said
from app.people import Somebody, people
from app.proposals import Joined, join, joined_with, part, take_back
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.proposals import Pair
    from memory.graph.look import Node

# Also told without colours.
_MARKS: Final = {"person": "◦", "company": "▪", "project": "▸", "account": "€", "place": "⌂", "event": "◷"}
_FACTS: Final = 12


class Walked(Message):
    """The graph is to be walked from a node."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node


class PeopleRows(ListedRows[Somebody]):
    """A line each: what they are, and their name."""

    def row(self, each: Somebody) -> Text:
        name = clean(each.name).replace("\n", " ")
        if each.pair is not None:
            return Text(f"≟ {name}", "bold").append(
                f" · {self.catalogue.text('screen.memory.people.one_or_two')}", "dim"
            )
        return Text(f"{_mark(each)} {name}").append(f" · {kind_of(each, self.catalogue)}", "dim")


class PeopleListing(PagedList):
    """The rows, with the keys that say whether two are one, or two again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "decide(True)", show=False),
        Binding("d", "decide(False)", show=False),
    ]

    def action_decide(self, one: bool) -> None:
        next(each for each in self.ancestors if isinstance(each, PeoplePane)).decide(one=one)


class PeoplePane(SearchedPane):
    """A list on the left, what is known of the chosen one on the right."""

    NAME = "people"

    def __init__(self) -> None:
        super().__init__()
        self._kept = KeptFacts()

    def listing_widget(self) -> PagedList:
        return PeopleListing()

    def find(self, words: str) -> Rows:
        return PeopleRows(people(self.app.session, words, self.app.settings.people_listed), self.app.catalogue)

    def search_again(self) -> None:
        self._kept.forget()
        super().search_again()

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        each = _at(rows, place)
        words, graph = self.app.catalogue, self.app.session.memory.papers.graph
        if each is None:
            return Text()
        if each.pair is not None:
            told = Text.assemble((self.words("are_they_one", name=clean(each.name)) + "\n\n", "bold"))
            for number, node in enumerate((each.pair.first, each.pair.second), 1):
                told.append(f" {number} ", "reverse bold").append(f" {node.id}\n", "dim")
                for said in graph.statements(node) or ():
                    told.append(f"    {statement_text(said, words)}\n")
                told.append("\n")
            return told
        told = Text.assemble((clean(each.name), "bold"), (f"\n{kind_of(each, words)}\n", "dim"))
        self._add_facts(told, each)
        if each.node is not None:
            for number, joined in enumerate(joined_with(self.app.session, each.node)):
                told.append("\n" * (not number) + f"≡ {join_text(joined, words)}")
                told.append(f" · {self.words('two_again')}\n" if not number else "\n", "dim")
            limits = self.app.session.settings.memory.documents
            steps = graph.around(each.node, limits.hops, limits.neighbours)
            told.append("\n" + self.words("in_documents") + "\n", "bold")
            told.append("\n".join(draw(each.node, graph.statements(each.node), steps, words, width)))
        return told

    def _add_facts(self, told: Text, each: Somebody) -> None:
        found = self._kept.of(self.app.session).holding(each.name)
        if not len(found):
            return
        told.append("\n" + self.words("in_memory") + "\n", "bold")
        for fact in found.facts(0, _FACTS):
            if fact is not None:
                told.append(f"· {clean(fact.text)}\n")
        if len(found) > _FACTS:
            told.append(self.app.catalogue.count("screen.memory.people.more", len(found) - _FACTS) + "\n", "dim")

    def decide(self, *, one: bool) -> None:
        """Two of one name are one from now on, or two; two that were made one last are two again."""
        place = self.listing.highlighted
        each = None if place is None or self.rows is None else _at(self.rows, place)
        if each is None:
            return
        try:
            if each.pair is not None:
                said = self._decide_pair(each.pair, one=one)
            elif each.node is not None and not one and (wrong := joined_with(self.app.session, each.node)):
                said = self._two_again(wrong[0])
            else:
                return
        except EnlaceError as error:
            said = Said(error=error)
        self.search_again()
        self.post_message(said)

    def _decide_pair(self, pair: Pair, *, one: bool) -> Said:
        session, name = self.app.session, clean(pair.first.name)
        if not one:
            part(session, pair.first, pair.second)
            return Said(self.words("parted", name=name))
        joined = join(session, pair.first, pair.second)
        undo = None if joined is None else partial(self._undo, joined)
        return Said(self.words("joined", name=name), undo=undo)

    def _two_again(self, wrong: Joined) -> Said:
        take_back(self.app.session, wrong)
        return Said(self.words("two_again_said", first=clean(wrong.node.name), second=clean(wrong.name)))

    def _undo(self, joined: Joined) -> None:
        try:
            self._two_again(joined)
        except EnlaceError as error:
            self.post_message(Said(error=error))
        self.search_again()

    @on(PagedList.Selected)
    def _walk(self, event: PagedList.Selected) -> None:
        each = None if event.place is None or self.rows is None else _at(self.rows, event.place)
        if each is not None and each.node is not None:
            self.post_message(Walked(each.node))
        elif each is not None and each.pair is None:
            self.say(self.words("in_no_document", name=clean(each.name)))


def kind_of(each: Somebody, words: Catalogue) -> str:
    """What somebody is, in a word or two."""
    if each.member is not None:
        return words.text("screen.memory.people.member")
    if each.node is not None:
        return words.text(f"graph.kinds.{each.node.kind}")
    return words.count("screen.facts", each.facts)


def _mark(each: Somebody) -> str:
    if each.member is not None:
        return "●"
    return _MARKS[each.node.kind] if each.node is not None else "○"


def _at(rows: Rows, place: int) -> Somebody | None:
    return rows.at(place) if isinstance(rows, PeopleRows) else None
