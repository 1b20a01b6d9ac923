"""A conversation as an export tells it, and how its messages become a tree of those that people saw.

Other assistants keep what a person never sees in the same tree: instructions, calls of tools and their results,
thoughts. Those are passed over, and what follows them follows what came before them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from configs.errors import Fact

Origin = Literal["chatgpt", "claude", "open_webui"]
Ending = Literal["complete", "stopped", "failed"]
# A time in milliseconds is beyond any in seconds that these could be.
_MILLISECONDS_FROM: Final = 1e11


class Wrong(Exception):
    """Why an entry is no conversation. ``reason``: the name of a text of the catalogues, whose facts are ``facts``."""

    def __init__(self, reason: str, **facts: Fact) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = facts


@dataclass(frozen=True)
class Node:
    """One message of an export. ``shown``: whether people saw it; ``at``: seconds since 1970, None if it does not say.

    ``model``: what answered; ``attachments``: names of what was sent with it, which stays where it is.
    """

    id: str
    parent: str | None
    role: str
    text: str
    at: float | None = None
    shown: bool = True
    state: Ending = "complete"
    model: str = ""
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """A conversation. ``messages``: parents before what follows them, and the end of the branch that was in use last.

    ``passed_over``: messages that people did not see.
    """

    origin: Origin
    id: str
    title: str
    created_at: float
    updated_at: float
    messages: tuple[Node, ...]
    passed_over: int = 0


@dataclass
class Tree:
    """Messages of one conversation, by their ids in the export."""

    nodes: dict[str, Node] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        """Of two with one id the first stays."""
        self.nodes.setdefault(node.id, node)

    def shown(self, at: float, current: str | None) -> tuple[Node, ...]:
        """Those that people saw, in the order in which they can be stored; ``current``: the end of the last branch.

        A message without a time has that of the one it follows, and the first ones have ``at``. Where messages follow
        each other in a ring, the first of them begins a branch.
        """
        kept = [node for node in self.nodes.values() if node.shown]
        parents = {node.id: self._shown_from(node.parent) for node in kept}
        followed: dict[str | None, list[Node]] = {}
        for node in kept:
            followed.setdefault(parents[node.id], []).append(node)
        result: dict[str, Node] = {}
        for first in (*followed.get(None, []), *kept):
            waiting: list[tuple[Node, str | None, float]] = [(first, None, at)]
            while waiting:
                node, parent, before = waiting.pop()
                if node.id not in result:
                    moment = before if node.at is None else node.at
                    result[node.id] = replace(node, parent=parent, at=moment)
                    waiting += [(child, node.id, moment) for child in reversed(followed.get(node.id, []))]
        placed = _parents_first(sorted(result.values(), key=lambda node: node.at or 0.0))
        # What was written last is shown first: of all branches, the one in use.
        last = self._shown_from(current)
        ends = last is not None and not followed.get(last)
        return tuple(sorted(placed, key=lambda node: ends and node.id == last))

    def _shown_from(self, id_: str | None) -> str | None:
        """The first message that people saw, from one of these back to the beginning."""
        seen = set()
        while id_ is not None and id_ in self.nodes and id_ not in seen:
            seen.add(id_)
            if self.nodes[id_].shown:
                return id_
            id_ = self.nodes[id_].parent
        return None


def _parents_first(order: Sequence[Node]) -> list[Node]:
    """The same order, but for those that a clock has set before what they follow."""
    placed: dict[str, Node] = {}
    by_id = {node.id: node for node in order}
    for node in order:
        line = [node]
        while (parent := line[-1].parent) is not None and parent not in placed:
            line.append(by_id[parent])
        for each in reversed(line):
            placed.setdefault(each.id, each)
    return list(placed.values())


def stable_id(*names: str | None) -> str:
    """The id under which a message or conversation of an export is stored: the same one every time."""
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]


def text_of(value: Any, field_name: str) -> str:
    """A text, empty where there is none. Raises Wrong for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Wrong("wrong_type", field=field_name)
    return value


def required(entry: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text with something in it. Raises Wrong where none is."""
    for name in names:
        if isinstance(entry.get(name), str) and entry[name]:
            return str(entry[name])
    raise Wrong("missing", field=names[0])


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; nothing where it is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def seconds(value: Any) -> float | None:
    """A time as exports write it: seconds or milliseconds since 1970, or ISO 8601. None where it is no time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value) if abs(value) < 1e300 else math.inf
    number = number / 1000 if number > _MILLISECONDS_FROM else number
    return number if 0 < number < _MILLISECONDS_FROM else None
