"""Reading single keywords of a JSON Schema. Every function raises RequestWrong, naming the place and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Set
from decimal import Decimal
from typing import Any, NoReturn

from engine.errors import RequestWrong
from engine.gbnf import MOST_REPEATS

LARGEST_BOUND, FINEST_BOUND = Decimal(10) ** 15, 9
# These say something to people and programs, and nothing about which answers are right.
ANNOTATIONS = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "discriminator"}
ANNOTATIONS |= {"$schema", "$id", "$comment", "$defs", "definitions"}
LOWS, HIGHS = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
NUMBER = frozenset({*LOWS, *HIGHS})
KEYWORDS: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "string": frozenset({"minLength", "maxLength", "format", "pattern"}),
    "number": NUMBER,
    "integer": NUMBER,
    "boolean": frozenset(),
    "null": frozenset(),
}


def refuse(at: str, reason: str) -> NoReturn:
    """Refuse the schema for what stands at ``at``."""
    raise RequestWrong(field=at, reason=reason)


def check_keywords(schema: Mapping[str, Any], at: str, known: Set[str]) -> None:
    """Let nothing pass but the keywords in ``known`` and those that say nothing about answers."""
    for keyword in schema:
        if keyword not in known and keyword not in ANNOTATIONS:
            refuse(f"{at}.{keyword}", "this keyword cannot be kept here")


def types_of(schema: Mapping[str, Any], at: str) -> list[str] | None:
    """The types that ``type`` names; None where it is not there."""
    given = schema.get("type")
    if given is None:
        return None
    types = [given] if isinstance(given, str) else given
    if not isinstance(types, list) or not types or not all(isinstance(t, str) and t in KEYWORDS for t in types):
        refuse(f"{at}.type", f"must be of {', '.join(KEYWORDS)}")
    return list(dict.fromkeys(types))


def is_of(value: Any, kind: str) -> bool:
    """Whether a JSON value is of a type; 1.0 is an integer too."""
    if kind in ("number", "integer"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (kind == "number" or float(value).is_integer())
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[kind])


def list_of_some(given: Any, at: str) -> list[Any]:
    """A list with something in it."""
    if not isinstance(given, list) or not given:
        refuse(at, "a list of schemas is needed")
    return given


def properties_of(schema: Mapping[str, Any], at: str) -> dict[str, Any]:
    """The schemas of an object's properties."""
    given = schema.get("properties", {})
    if not isinstance(given, dict):
        refuse(f"{at}.properties", "an object is needed")
    return given


def required_of(schema: Mapping[str, Any], at: str) -> list[str]:
    """The names of the properties that an object must have."""
    given = schema.get("required", [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        refuse(f"{at}.required", "a list of names is needed")
    return list(dict.fromkeys(given))


def counts_of(schema: Mapping[str, Any], at: str, low: str, high: str) -> tuple[int, int | None]:
    """The bounds of a length, such as a grammar can count."""
    for word in (low, high):
        value = schema.get(word, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_REPEATS:
            refuse(f"{at}.{word}", f"a whole number from 0 to {MOST_REPEATS} is needed")
    least, most = schema.get(low, 0), schema.get(high)
    if most is not None and least > most:
        refuse(f"{at}.{low}", "nothing fits it")
    return least, most


def decimal_of(value: Any, at: str) -> Decimal:
    """A bound of a number, such as a grammar can spell out."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = Decimal(str(value))
        if number.is_finite() and abs(number) < LARGEST_BOUND and round(number, FINEST_BOUND) == number:
            return number
    refuse(at, f"a number of at most 15 digits before and {FINEST_BOUND} after the point is needed")
