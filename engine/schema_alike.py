"""Looking around in a JSON Schema: where its references lead, and whether no answer can fit two of its parts."""

from __future__ import annotations

import itertools
import json
import urllib.parse
from collections.abc import Sequence
from typing import Any

MOST_REFERENCES = 20


class Schemas:
    """The parts of the schema ``whole``."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole

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
        """Whether it is certain that no answer fits two of these."""
        return all(self._apart(*pair) for pair in itertools.combinations(map(self.resolved, schemas), 2))

    def _apart(self, one: Any, other: Any) -> bool:
        if not isinstance(one, dict) or not isinstance(other, dict):
            return False
        if (types := _types(one)) and (others := _types(other)) and not types & others:
            return True
        if (values := _values(one)) is not None and (other_values := _values(other)) is not None:
            return not values & other_values
        both = set(_names(one)) & set(_names(other))
        inner = one.get("properties", {}), other.get("properties", {})
        return any(self._apart(self.resolved(inner[0].get(name)), self.resolved(inner[1].get(name))) for name in both)


def _types(schema: dict[str, Any]) -> set[str]:
    """The types that it names; a whole number is a number."""
    given = schema.get("type", [])
    types = [given] if isinstance(given, str) else given
    return {"number" if kind == "integer" else str(kind) for kind in types}


def _values(schema: dict[str, Any]) -> set[str] | None:
    """The only values that it allows, as JSON; None where it allows others."""
    if "const" in schema:
        return {_spelled(schema["const"])}
    if isinstance(schema.get("enum"), list):
        return {_spelled(value) for value in schema["enum"]}
    return None


def _spelled(value: Any) -> str:
    """A JSON value in one spelling: 1.0 is 1."""
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole else value, sort_keys=True)


def _names(schema: dict[str, Any]) -> list[str]:
    """The properties that every object of it has."""
    required, properties = schema.get("required"), schema.get("properties")
    if schema.get("type") != "object" or not isinstance(required, list) or not isinstance(properties, dict):
        return []
    return [name for name in required if isinstance(name, str) and name in properties]
