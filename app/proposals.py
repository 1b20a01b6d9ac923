"""Two nodes of one name: whether they are one is for people to say, and to take back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.standing import adults_alone
from memory.documents.errors import JoinUnknown, NodesApart, NodeUnknown, ProposalUnknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from memory.documents.shelf import Shelf
    from memory.graph.joins import Join
    from memory.graph.look import Node

# More than a person ever decides; what is searched through, not shown.
_MANY: Final = 10_000


@dataclass(frozen=True)
class Pair:
    """``id``: those of both nodes, with a stroke between them."""

    first: Node
    second: Node

    @property
    def id(self) -> str:
        return f"{self.first.id}-{self.second.id}"


@dataclass(frozen=True)
class Joined:
    """``node``: whoever is both; ``name``: what the other was called; ``by``: the name of who said so, none where an
    e-mail or the like did. ``id``: that of the node, with a point and a number behind it.
    """

    node: Node
    seq: int
    name: str
    by: str | None
    at: float

    @property
    def id(self) -> str:
        return f"{self.node.id}.{self.seq}"


def all_proposals(session: Session, most: int) -> list[Pair]:
    """Pairs of one name of whom nobody has said whether they are one, of the household's graph and the member's."""
    graph = session.memory.papers.graph
    return [
        Pair(graph.node(shelf.visibility, each.first), graph.node(shelf.visibility, each.second))
        for shelf in _shelves(session)
        for each in shelf.merging.proposals(most)
    ][:most]


def pair(session: Session, reference: str, other: str | None) -> tuple[Node, Node]:
    """The two nodes that a proposal's number in the list or its id names, or two names or ids.

    Raises ProposalUnknown, NodeUnknown, and NodesApart for two that cannot be one.
    """
    if other is None:
        found = all_proposals(session, _MANY)
        for number, each in enumerate(found, 1):
            if reference in (each.id, str(number)):
                return each.first, each.second
        raise ProposalUnknown(id=reference)
    graph = session.memory.papers.graph
    first, second = graph.find(reference)[0], graph.find(other)[0]
    if first == second or (first.visibility, first.kind) != (second.visibility, second.kind):
        raise NodesApart(first=reference, second=other)
    return first, second


def join(session: Session, first: Node, second: Node) -> Joined | None:
    """Make one of two; by which it is taken back, if anything was said of the second. Raises AdultsAlone."""
    merging = _shelf_to_change(session, first).merging
    seq = merging.join(first.seq, second.seq, session.member.id)
    return next((each for each in joined_with(session, first) if each.seq == seq), None)


def part(session: Session, first: Node, second: Node) -> None:
    """Remember that two are two. Raises AdultsAlone."""
    _shelf_to_change(session, first).merging.part(first.seq, second.seq, session.member.id)


def joined(session: Session, most: int) -> list[Joined]:
    """What was made one, the last first, of the household's graph and the member's."""
    graph = session.memory.papers.graph
    found = [
        (graph.node(shelf.visibility, each.kept), each)
        for shelf in _shelves(session)
        for each in shelf.merging.joins.latest(most)
    ]
    return sorted(_told(session, found), key=lambda each: -each.at)[:most]


def joined_with(session: Session, node: Node) -> list[Joined]:
    """What was made one with a node, the last first."""
    latest = _shelf_of(session, node).merging.joins.latest(_MANY, node.seq)
    return _told(session, [(node, each) for each in latest])


def to_take_back(session: Session, reference: str) -> Joined:
    """What a number in the list, an id, or whoever is both now (the last of theirs) names. Raises JoinUnknown."""
    found = joined(session, _MANY)
    for number, each in enumerate(found, 1):
        if reference in (each.id, str(number)):
            return each
    try:
        nodes = session.memory.papers.graph.find(reference)
    except NodeUnknown:
        nodes = []
    last = next((each for each in found if each.node in nodes), None)
    if last is None:
        raise JoinUnknown(id=reference)
    return last


def take_back(session: Session, wrong: Joined) -> None:
    """Make two again of what was made one. Raises AdultsAlone."""
    _shelf_to_change(session, wrong.node).merging.take_back(wrong.seq, session.member.id)


def _told(session: Session, found: Sequence[tuple[Node, Join]]) -> list[Joined]:
    names = {member.id: member.name for member in session.household.members.list()}
    return [
        Joined(node, each.seq, each.name, None if each.by is None else names.get(each.by, "?"), each.at)
        for node, each in found
    ]


def _shelves(session: Session) -> tuple[Shelf, Shelf]:
    """The household's and the member's own."""
    return session.household.documents, session.memory.papers.shelf


def _shelf_of(session: Session, node: Node) -> Shelf:
    shared, own = _shelves(session)
    return own if node.visibility == "private" else shared


def _shelf_to_change(session: Session, node: Node) -> Shelf:
    """Raises AdultsAlone."""
    if node.visibility != "private":
        adults_alone(session)
    return _shelf_of(session, node)
