"""The rules of a grammar that a JSON Schema is turned into, and those that any schema may need."""

from __future__ import annotations

from collections.abc import Mapping

from engine.grammar_check import ROOT
from engine.schema_numbers import ANY_INTEGER, ANY_NUMBER
from engine.schema_strings import CHARACTER

# Each with the others that it uses.
COMMON: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "space": (r'(" " | "\n" [ ]{0,20})?', ()),
    "character": (CHARACTER, ()),
    "string": (r'"\"" character* "\""', ("character",)),
    "number": (ANY_NUMBER, ()),
    "integer": (ANY_INTEGER, ()),
    "boolean": ('"true" | "false"', ()),
    "null": ('"null"', ()),
    "object": (
        '"{" space (string ":" space value ("," space string ":" space value)* space)? "}"',
        ("space", "string", "value"),
    ),
    "array": ('"[" space (value ("," space value)* space)? "]"', ("space", "value")),
    "value": (
        "object | array | string | number | boolean | null",
        ("object", "array", "string", "number", "boolean", "null"),
    ),
}


class Rules:
    """Rules by their names."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def add(self, rule: str) -> str:
        """A new rule; its name."""
        name = f"r{len(self._rules)}"
        self._rules[name] = rule
        return name

    def put(self, name: str, rule: str) -> None:
        """Say, or say anew, what a rule is."""
        self._rules[name] = rule

    def common(self, name: str) -> str:
        """A rule of ``COMMON``; its name."""
        if name not in self._rules:
            self._rules[name], others = COMMON[name]
            for other in others:
                self.common(other)
        return name

    def grammar(self, root: str) -> str:
        """All of them in GBNF; ``root`` is the right side of the one that an answer begins with."""
        return "\n".join(f"{name} ::= {rule}" for name, rule in {**self._rules, ROOT: root}.items())


def times(name: str, least: int, most: int | None) -> str:
    """The rule ``name`` from ``least`` to ``most`` times."""
    if most == 0:
        return ""
    if (least, most) == (0, None):
        return f"{name}*"
    return f"{name}{{{least},{'' if most is None else most}}}"
