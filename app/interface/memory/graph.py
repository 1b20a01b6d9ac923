"""The graph, walked: whoever stands in the middle, those around them, and Enter, which goes to one of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Static

from app.graph_drawing import draw
from app.graph_words import name_of, step_text
from app.interface.memory.searched_pane import SearchedPane
from app.interface.paged_list import PagedList, Rows
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.graph.look import Node, Step

# Names of the way that are shown.
_SHOWN: Final = 4


class GraphRows:
    """Before the first step whoever may be begun with, then the ways that lead on from the middle."""

    def __init__(self, nodes: list[Node], steps: list[Step], catalogue: Catalogue) -> None:
        self._nodes, self._steps, self._catalogue = nodes, steps, catalogue

    def __len__(self) -> int:
        return len(self._steps) or len(self._nodes)

    def node(self, place: int) -> Node | None:
        """Where a row leads."""
        found = [step.after for step in self._steps] or self._nodes
        return found[place] if place < len(found) else None

    def page(self, start: int, stop: int, width: int) -> Sequence[Text]:
        if self._steps:
            return [Text(f"→ {step_text(step, self._catalogue)}") for step in self._steps[start:stop]]
        return [Text(name_of(node, self._catalogue)) for node in self._nodes[start:stop]]


class GraphListing(PagedList):
    """The rows; right and left walk, too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "select", show=False),
        Binding("left,backspace", "back", show=False),
    ]

    def action_back(self) -> None:
        next(each for each in self.ancestors if isinstance(each, GraphPane)).back()


class GraphPane(SearchedPane):
    """The ways on from the middle on the left, the surroundings of where they lead drawn on the right."""

    NAME = "graph"

    def __init__(self) -> None:
        super().__init__()
        self._way: list[Node] = []

    def listing_widget(self) -> PagedList:
        return GraphListing()

    def find(self, words: str) -> Rows:
        graph, limits = self.app.session.memory.papers.graph, self.app.session.settings.memory.documents
        if self._way and not words:
            steps = graph.around(self._way[-1], 1, limits.neighbours)
            return GraphRows([self._way[-1]], steps, self.app.catalogue)
        return GraphRows(graph.named(words, self.app.settings.people_listed), [], self.app.catalogue)

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        node = rows.node(place) if isinstance(rows, GraphRows) else None
        if node is None:
            return Text()
        graph, limits = self.app.session.memory.papers.graph, self.app.session.settings.memory.documents
        steps = graph.around(node, limits.hops, limits.neighbours)
        lines = draw(node, graph.statements(node), steps, self.app.catalogue, width)
        return Text.assemble((lines[0] + "\n", "bold"), "\n".join(lines[1:]))

    def walk_to(self, node: Node) -> None:
        """Stand at a node from now on."""
        self._way.append(node)
        self._stand()

    def back(self) -> None:
        """Stand where one stood before."""
        if self._way:
            self._way.pop()
            self._stand()

    def _stand(self) -> None:
        self.searching.value = ""
        way = " › ".join(clean(node.name).replace("\n", " ") for node in self._way[-_SHOWN:])
        keys = self.query_one(".keys", Static)
        keys.update(self.words("keys_walking", way=way) if self._way else self.words("keys"))
        self.listing.focus()
        self.search_again()

    @on(PagedList.Selected)
    def _go(self, event: PagedList.Selected) -> None:
        node = self.rows.node(event.place) if isinstance(self.rows, GraphRows) and event.place is not None else None
        if node is not None and node not in self._way[-1:]:
            self.walk_to(node)
