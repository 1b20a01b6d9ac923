"""Two nodes of one name: whether they are one is for people to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.standing import adults_alone
from memory.documents.errors import NodesApart, ProposalUnknown

if TYPE_CHECKING:
    from app.session import Session
    from memory.documents.shelf import Shelf
    from memory.graph.look import Node


@dataclass(frozen=True)
class Pair:
    """``id``: those of both nodes, with a stroke between them."""

    first: Node
    second: Node

    @property
    def id(self) -> str:
        return f"{self.first.id}-{self.second.id}"


def all_proposals(session: Session, most: int) -> list[Pair]:
    """Pairs of one name of whom nobody has said whether they are one, of the household's graph and the member's."""
    graph = session.memory.papers.graph
    return [
        Pair(graph.node(shelf.visibility, each.first), graph.node(shelf.visibility, each.second))
        for shelf in (session.household.documents, session.memory.papers.shelf)
        for each in shelf.merging.proposals(most)
    ][:most]


def pair(session: Session, reference: str, other: str | None) -> tuple[Node, Node]:
    """The two nodes that a proposal's number in the list or its id names, or two names or ids.

    Raises ProposalUnknown, NodeUnknown, and NodesApart for two that cannot be one.
    """
    if other is None:
        found = all_proposals(session, most=10_000)
        for number, each in enumerate(found, 1):
            if reference in (each.id, str(number)):
                return each.first, each.second
        raise ProposalUnknown(id=reference)
    graph = session.memory.papers.graph
    first, second = graph.find(reference)[0], graph.find(other)[0]
    if first == second or (first.visibility, first.kind) != (second.visibility, second.kind):
        raise NodesApart(first=reference, second=other)
    return first, second


def join(session: Session, first: Node, second: Node) -> None:
    """Make one of two. Raises AdultsAlone."""
    _shelf(session, first).merging.join(first.seq, second.seq)


def part(session: Session, first: Node, second: Node) -> None:
    """Remember that two are two. Raises AdultsAlone."""
    _shelf(session, first).merging.part(first.seq, second.seq, session.member.id)


def _shelf(session: Session, node: Node) -> Shelf:
    if node.visibility == "private":
        return session.memory.papers.shelf
    adults_alone(session)
    return session.household.documents
