"""Texts and numbers of a JSON Schema as rules. Every function raises RequestWrong, naming the place and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.schema_keywords import HIGHS, LOWS, NUMBER, counts_of, decimal_of, refuse
from engine.schema_numbers import Bound, integer_rule, number_rule
from engine.schema_pattern import PatternRefused, pattern_rule
from engine.schema_rules import Rules
from engine.schema_strings import FORMATS, length_rule


def text_of(rules: Rules, schema: Mapping[str, Any], at: str) -> str:
    """A text of a length, of a format or of a pattern."""
    least, most = counts_of(schema, at, "minLength", "maxLength")
    ways = [keyword for keyword in ("format", "pattern") if keyword in schema]
    if not ways:
        if (least, most) == (0, None):
            return rules.common("string")
        return length_rule(rules.common("character"), least, most)
    if len(ways) > 1 or (least, most) != (0, None):
        refuse(f"{at}.{ways[-1]}", "not together with a length, a format or a pattern")
    given = schema[ways[0]]
    if ways == ["pattern"]:
        if not isinstance(given, str):
            refuse(f"{at}.pattern", "a regular expression is needed")
        try:
            return rf'"\"" {pattern_rule(given)} "\""'
        except PatternRefused as error:
            refuse(f"{at}.pattern", str(error))
    if not isinstance(given, str) or given not in FORMATS:
        refuse(f"{at}.format", f"only {', '.join(FORMATS)} are known")
    return rf'"\"" ({FORMATS[given]}) "\""'


def number_of(rules: Rules, kind: str, schema: Mapping[str, Any], at: str) -> str:
    """A number or a whole number, by ``kind``, within its bounds."""
    if not NUMBER & schema.keys():
        return rules.common(kind)
    lows = [Bound(decimal_of(schema[word], f"{at}.{word}"), word[0] == "e") for word in LOWS if word in schema]
    highs = [Bound(decimal_of(schema[word], f"{at}.{word}"), word[0] == "e") for word in HIGHS if word in schema]
    low = max(lows, key=lambda bound: (bound.value, bound.open), default=None)
    high = min(highs, key=lambda bound: (bound.value, not bound.open), default=None)
    rule = (integer_rule if kind == "integer" else number_rule)(low, high)
    if rule is None:
        refuse(at, "no number is in its range")
    return rule
