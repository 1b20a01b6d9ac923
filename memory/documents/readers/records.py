"""YAML and JSON into trees whose values know where they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Final, NoReturn

import yaml

from memory.documents.errors import DocumentDamaged, DocumentNoMapping, DocumentTooHard
from memory.documents.found import Listing, Reading, Record, Remark, Scalar, Tree

# An alias may be used again and again, so that a page of YAML stands for more than any memory holds.
_MOST_VALUES: Final = 200_000
# Deeper than anybody nests, and far from where Python itself gives up.
_DEEPEST: Final = 64
_BLANKS: Final = re.compile(r"\s*")
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


def read_yaml(text: str, remarks: tuple[Remark, ...]) -> Reading:
    """Raises DocumentDamaged where it is no YAML, DocumentNoMapping where it is no record, DocumentTooHard."""
    return _reading(text, yaml_trees(text), "yaml", remarks)


def read_json(text: str, remarks: tuple[Remark, ...]) -> Reading:
    """The same of JSON."""
    parser = _Json(text)
    try:
        tree = parser.value(parser.skipped(0), 0)
        if parser.skipped(parser.at) != len(text):
            parser.refuse("text after the end")
    except JSONDecodeError as error:
        raise DocumentDamaged(format="json", reason=error.msg) from error
    return _reading(text, (tree,), "json", remarks)


def yaml_trees(text: str, shift: int = 0) -> tuple[Tree, ...]:
    """The documents of a YAML text that is a part of another from ``shift`` on. Raises DocumentDamaged and TooHard."""
    walk = _Yaml(shift)
    try:
        return tuple(walk.tree(node, 0) for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None)
        raise DocumentDamaged(format="yaml", reason=problem or "nested too deeply") from error


def _reading(text: str, trees: tuple[Tree, ...], form: str, remarks: tuple[Remark, ...]) -> Reading:
    if not any(_has_record(tree) for tree in trees):
        raise DocumentNoMapping(format=form)
    return Reading(text, trees=trees, prose=False, remarks=remarks)


def _has_record(tree: Tree) -> bool:
    items: Iterator[Tree] = iter(tree.items) if isinstance(tree, Listing) else iter((tree,))
    return any(isinstance(item, Record) for item in items)


class _Yaml:
    def __init__(self, shift: int) -> None:
        self._shift = shift
        self._left = _MOST_VALUES

    def tree(self, node: yaml.Node, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise RecursionError
        self._left -= 1
        if self._left < 0:
            raise DocumentTooHard(seconds=0)
        if isinstance(node, yaml.MappingNode):
            return Record(tuple((str(key.value), self.tree(value, depth + 1)) for key, value in node.value))
        if isinstance(node, yaml.SequenceNode):
            return Listing(tuple(self.tree(item, depth + 1) for item in node.value))
        end = node.end_mark.index
        return Scalar(str(node.value), node.start_mark.index + self._shift, end + self._shift)


class _Json:
    """RFC 8259, as strict as Python's own: that one tells no places."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def skipped(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Tree:
        """The value that begins at ``at``; ``self.at`` is behind it then."""
        if depth > _DEEPEST:
            self.refuse("nested too deeply")
        sign = self._text[at : at + 1]
        if sign == "{":
            return self._record(at, depth)
        if sign == "[":
            return self._listing(at, depth)
        if sign == '"':
            value, self.at = scanstring(self._text, at + 1, True)
            return Scalar(value, at, self.at)
        found = _PLAIN.match(self._text, at)
        if found is None:
            self.at = at
            self.refuse("no value")
        self.at = found.end()
        return Scalar("" if found[0] == "null" else found[0], at, self.at)

    def refuse(self, reason: str) -> NoReturn:
        raise JSONDecodeError(reason, self._text, self.at)

    def _record(self, at: int, depth: int) -> Record:
        entries: list[tuple[str, Tree]] = []
        self.at = self.skipped(at + 1)
        while self._text[self.at : self.at + 1] != "}":
            if self._text[self.at : self.at + 1] != '"':
                self.refuse("a key in quotes is missing")
            key, self.at = scanstring(self._text, self.at + 1, True)
            self.at = self.skipped(self.at)
            if self._text[self.at : self.at + 1] != ":":
                self.refuse("a colon is missing")
            entries.append((key, self.value(self.skipped(self.at + 1), depth + 1)))
            self._next("}")
        self.at += 1
        return Record(tuple(entries))

    def _listing(self, at: int, depth: int) -> Listing:
        items: list[Tree] = []
        self.at = self.skipped(at + 1)
        while self._text[self.at : self.at + 1] != "]":
            items.append(self.value(self.at, depth + 1))
            self._next("]")
        self.at += 1
        return Listing(tuple(items))

    def _next(self, closing: str) -> None:
        """Go on behind a comma to what follows, which has to be something, or to the closing sign."""
        self.at = self.skipped(self.at)
        sign = self._text[self.at : self.at + 1]
        if sign == ",":
            self.at = self.skipped(self.at + 1)
            if self._text[self.at : self.at + 1] == closing:
                self.refuse("a value is missing")
        elif sign != closing:
            self.refuse("a comma is missing")
