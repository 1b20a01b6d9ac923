"""The surroundings of somebody in the graph, drawn as a tree with box characters, as wide as the terminal is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.commands.output import fitted
from app.graph_words import name_of, one_line, property_text, source_text, step_text

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.graph.look import Node, Statement, Step

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
            fitted(one_line(f"{mark}{property_text(each, words)}{source_text(each.evidence, words)}"), columns).rstrip()
        )
    _draw(root, below, words, columns, "", lines)
    return lines


def _draw(
    node: Node, below: dict[str, list[Step]], words: Catalogue, columns: int, before: str, lines: list[str]
) -> None:
    steps = below[node.id]
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        lines.append(fitted(one_line(f"{before}{_BRANCH[last]}{step_text(step, words)}", keep=True), columns).rstrip())
        _draw(step.after, below, words, columns, before + _TRUNK[last], lines)
