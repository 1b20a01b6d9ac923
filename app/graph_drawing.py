"""The surroundings of somebody in the graph, drawn as a tree with box characters, as wide as the terminal is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.commands.output import fitted
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.graph.look import Evidence, Node, Statement, Step

_BRANCH: Final = ("├─ ", "└─ ")
_TRUNK: Final = ("│  ", "   ")


def draw(root: Node, told: Sequence[Statement], steps: Sequence[Step], words: Catalogue, columns: int) -> list[str]:
    """Lines: the root, what is told of it alone, and then everybody around it, each where it is reached first."""
    below: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        below[step.before.id].append(step)
    lines = [fitted(name_of(root, words, number=True), columns).rstrip()]
    own = [each for each in told if isinstance(each.object, str)]
    last = not below[root.id]
    for number, each in enumerate(own):
        mark = _BRANCH[last and number == len(own) - 1]
        lines.append(
            fitted(_line(f"{mark}{property_text(each, words)}{source_text(each.evidence, words)}"), columns).rstrip()
        )
    _draw(root, below, words, columns, "", lines)
    return lines


def name_of(node: Node, words: Catalogue, *, number: bool = False) -> str:
    """A node's name and what it is; with the id by which commands are told which one is meant."""
    kind = words.text(f"graph.kinds.{node.kind}")
    return _line(f"{node.name} ({kind} · {node.id})" if number else f"{node.name} ({kind})")


def property_text(statement: Statement, words: Catalogue) -> str:
    """What is told of a node alone: "teléfono: 976 12 34 56"."""
    return _line(f"{words.text(f'graph.properties.{statement.predicate}')}: {statement.object}")


def statement_text(statement: Statement, words: Catalogue) -> str:
    """A whole statement in words, without its source."""
    if isinstance(statement.object, str):
        return _line(f"{statement.subject.name} · {property_text(statement, words)}")
    relation = words.text(f"graph.relations.{statement.predicate}.out")
    return _line(f"{statement.subject.name} {relation} {statement.object.name}")


def step_text(step: Step, words: Catalogue) -> str:
    """An edge as it is walked, without where it begins."""
    way = "back" if step.turned else "out"
    return _line(f"{words.text(f'graph.relations.{step.predicate}.{way}')} {name_of(step.after, words)}")


def source_text(evidence: Sequence[Evidence], words: Catalogue) -> str:
    """Which document says so, and where; the first of several."""
    if not evidence:
        return ""
    first = evidence[0]
    if first.page is not None:
        return "  " + words.text("graph.source.page", document=_line(first.name), page=first.page, line=first.line)
    return "  " + words.text("graph.source.line", document=_line(first.name), line=first.line)


def _draw(
    node: Node, below: dict[str, list[Step]], words: Catalogue, columns: int, before: str, lines: list[str]
) -> None:
    steps = below[node.id]
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        lines.append(fitted(_line(f"{before}{_BRANCH[last]}{step_text(step, words)}", keep=True), columns).rstrip())
        _draw(step.after, below, words, columns, before + _TRUNK[last], lines)


def _line(text: str, *, keep: bool = False) -> str:
    """Harmless and on one line; ``keep``: with the blanks that it begins with."""
    plain = clean(text)
    return plain.replace("\n", " ").replace("\t", " ") if keep else " ".join(plain.split())
