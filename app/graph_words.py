"""What the graph holds, in words: nodes, statements, edges as they are walked, and where a document says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.proposals import Joined
    from memory.graph.look import Evidence, Node, Statement, Step


def name_of(node: Node, words: Catalogue, *, number: bool = False) -> str:
    """A node's name and what it is; with the id by which commands are told which one is meant."""
    kind = words.text(f"graph.kinds.{node.kind}")
    return one_line(f"{node.name} ({kind} · {node.id})" if number else f"{node.name} ({kind})")


def property_text(statement: Statement, words: Catalogue) -> str:
    """What is told of a node alone: "teléfono: 976 12 34 56"."""
    return one_line(f"{words.text(f'graph.properties.{statement.predicate}')}: {statement.object}")


def statement_text(statement: Statement, words: Catalogue) -> str:
    """A whole statement in words, without its source."""
    if isinstance(statement.object, str):
        return one_line(f"{statement.subject.name} · {property_text(statement, words)}")
    relation = words.text(f"graph.relations.{statement.predicate}.out")
    return one_line(f"{statement.subject.name} {relation} {statement.object.name}")


def step_text(step: Step, words: Catalogue) -> str:
    """An edge as it is walked, without where it begins."""
    way = "back" if step.turned else "out"
    return one_line(f"{words.text(f'graph.relations.{step.predicate}.{way}')} {name_of(step.after, words)}")


def source_text(evidence: Sequence[Evidence], words: Catalogue) -> str:
    """Which document says so, and where; the first of several."""
    if not evidence:
        return ""
    first = evidence[0]
    if first.page is not None:
        return "  " + words.text("graph.source.page", document=one_line(first.name), page=first.page, line=first.line)
    return "  " + words.text("graph.source.line", document=one_line(first.name), line=first.line)


def join_text(joined: Joined, words: Catalogue) -> str:
    """Who was made one with somebody, and who said so."""
    if joined.by is None:
        return one_line(words.text("graph.joined.surely", name=joined.name))
    return one_line(words.text("graph.joined.by", name=joined.name, by=joined.by))


def one_line(text: str, *, keep: bool = False) -> str:
    """Harmless and on one line; ``keep``: with the blanks that it begins with."""
    plain = clean(text)
    return plain.replace("\n", " ").replace("\t", " ") if keep else " ".join(plain.split())
