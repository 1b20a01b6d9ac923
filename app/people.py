"""Whom and what the family's words and documents name: members, persons, companies, places; and who may be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.proposals import Pair, all_proposals
from memory.fact_list import subjects
from memory.text import fold

if TYPE_CHECKING:
    from app.session import Session
    from memory.graph.look import Node
    from memory.members import Member


@dataclass(frozen=True)
class Somebody:
    """``facts``: how many are about them; ``node``: what the documents say; ``pair``: two of whom it is to be said
    whether they are one.
    """

    name: str
    member: Member | None = None
    node: Node | None = None
    facts: int = 0
    pair: Pair | None = None


def people(session: Session, words: str, most: int) -> list[Somebody]:
    """Those whose name begins with some words, or all: what is to be decided first, then members, then by name.

    ``most`` of each kind at most.
    """
    wanted = fold(words).strip()
    told_of = {fold(name): (name, number) for name, number in subjects(session.memory.hearing.ledger.rows).items()}
    pairs = [
        Somebody(pair.first.name, pair=pair)
        for pair in all_proposals(session, most)
        if _begins(pair.first.name, wanted)
    ]
    nodes = session.memory.papers.graph.named(words, most)
    named = {fold(node.name) for node in nodes}
    members = session.household.members.list()
    own = [
        Somebody(member.name, member, facts=told_of.get(fold(member.name), ("", 0))[1])
        for member in members
        if _begins(member.name, wanted)
    ]
    is_member = {fold(member.name) for member in members}
    others = [Somebody(node.name, node=node, facts=told_of.get(fold(node.name), ("", 0))[1]) for node in nodes]
    others += [
        Somebody(name, facts=number)
        for key, (name, number) in told_of.items()
        if key not in named | is_member and _begins(name, wanted)
    ]
    return [*pairs, *own, *sorted(others, key=lambda each: fold(each.name))[:most]]


def _begins(name: str, wanted: str) -> bool:
    """Whether the name, or a word of it, begins so."""
    folded = fold(name)
    return folded.startswith(wanted) or f" {wanted}" in folded
