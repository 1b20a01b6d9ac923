"""Looking around in a JSON Schema: where its references lead, and whether no answer can fit two of its parts."""

from __future__ import annotations

import itertools
import json
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_REFERENCES = 20


class TooManyComparisons(Exception):
    """Whether no answer fits two of some schemas would take too long to find out."""


@dataclass(frozen=True)
class _Marks:
    """What one schema is told from another by: its types, its only values as JSON, the properties it always has."""

    types: frozenset[str]
    values: frozenset[str] | None
    needed: Mapping[str, Any]


class Schemas:
    """The parts of the schema ``whole``, of which ``most_comparisons`` are held against each other, all told."""

    def __init__(self, whole: Any, most_comparisons: int) -> None:
        self._whole = whole
        self._left = most_comparisons
        self._seen: dict[int, _Marks] = {}
        self._compared: dict[tuple[int, int], bool] = {}

    def follow(self, reference: object) -> tuple[bool, Any]:
        """Whether a ``$ref`` leads to a place in this schema, and what is there."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            return False, None
        place = self._whole
        for step in urllib.parse.unquote(reference).split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, dict) and key in place:
                place = place[key]
            elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
                place = place[int(key)]
            else:
                return False, None
        return True, place

    def resolved(self, schema: Any) -> Any:
        """``schema``, or what it refers to; None where that leads nowhere."""
        for _ in range(MOST_REFERENCES):
            if not isinstance(schema, dict) or "$ref" not in schema:
                return schema
            _, schema = self.follow(schema["$ref"])
        return None

    def all_apart(self, schemas: Sequence[Any]) -> bool:
        """Whether it is certain that no answer fits two of these. Raises TooManyComparisons."""
        given = [self.resolved(schema) for schema in schemas]
        if len({id(schema) for schema in given}) < len(given):
            return False
        return self._apart_by_values(given) or all(self._apart(*pair) for pair in itertools.combinations(given, 2))

    def _apart_by_values(self, given: Sequence[Any]) -> bool:
        """Whether each has values of its own, or a property that has: this takes no comparing of two of them."""
        if not all(isinstance(schema, dict) for schema in given):
            return False
        marks = [self._marks(schema) for schema in given]
        if _all_disjoint([each.values for each in marks]):
            return True
        # In the schema's own order, so that the limit falls alike in every process.
        shared = [name for name in marks[0].needed if all(name in each.needed for each in marks)]
        return any(_all_disjoint([self._values(each.needed[name]) for each in marks]) for name in shared)

    def _apart(self, one: Any, other: Any) -> bool:
        if not isinstance(one, dict) or not isinstance(other, dict):
            return False
        marks, others = self._marks(one), self._marks(other)
        self._left -= 1 + min(len(marks.values or ()), len(others.values or ()))
        if self._left < 0:
            raise TooManyComparisons
        pair = id(one), id(other)
        if pair not in self._compared:
            # What comes back to itself is told apart by something else, or not at all.
            self._compared[pair] = False
            self._compared[pair] = self._told_apart(marks, others)
        return self._compared[pair]

    def _told_apart(self, one: _Marks, other: _Marks) -> bool:
        if one.types and other.types and not one.types & other.types:
            return True
        if one.values is not None and other.values is not None:
            return one.values.isdisjoint(other.values)
        both = [name for name in one.needed if name in other.needed]
        return any(self._apart(self.resolved(one.needed[name]), self.resolved(other.needed[name])) for name in both)

    def _values(self, schema: Any) -> frozenset[str] | None:
        resolved = self.resolved(schema)
        return self._marks(resolved).values if isinstance(resolved, dict) else None

    def _marks(self, schema: dict[str, Any]) -> _Marks:
        # A schema stays where it is as long as the whole does.
        if id(schema) not in self._seen:
            self._seen[id(schema)] = _Marks(_types(schema), _values(schema), _needed(schema))
        return self._seen[id(schema)]


def _all_disjoint(sets: Sequence[frozenset[str] | None]) -> bool:
    """Whether all of them are there and nothing is in two."""
    known = [each for each in sets if each is not None]
    return len(known) == len(sets) and len(frozenset().union(*known)) == sum(map(len, known))


def _types(schema: dict[str, Any]) -> frozenset[str]:
    """The types that it names; a whole number is a number."""
    given = schema.get("type", [])
    types = [given] if isinstance(given, str) else given
    return frozenset("number" if kind == "integer" else str(kind) for kind in types)


def _values(schema: dict[str, Any]) -> frozenset[str] | None:
    """The only values that it allows, as JSON; None where it allows others."""
    if "const" in schema:
        return frozenset({_spelled(schema["const"])})
    if isinstance(schema.get("enum"), list):
        return frozenset(map(_spelled, schema["enum"]))
    return None


def _spelled(value: Any) -> str:
    """A JSON value in one spelling: 1.0 is 1."""
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole else value, sort_keys=True)


def _needed(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties that every object of it has."""
    required, properties = schema.get("required"), schema.get("properties")
    if schema.get("type") != "object" or not isinstance(required, list) or not isinstance(properties, dict):
        return {}
    return {name: properties[name] for name in required if isinstance(name, str) and name in properties}
