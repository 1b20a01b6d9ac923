"""JSON Schema to GBNF: a grammar that lets through only answers that the schema allows.

Written after JSON Schema 2020-12 (https://json-schema.org/draft/2020-12). What the grammar could not hold the model
to is refused by name: a schema that is half kept would pass for one that is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from configs.sections.grammars import GrammarSettings
from engine.errors import RequestWrong
from engine.grammar_check import check_grammar
from engine.schema_alike import Schemas, TooManyComparisons
from engine.schema_keywords import (
    KEYWORDS,
    check_keywords,
    counts_of,
    is_of,
    list_of_some,
    properties_of,
    refuse,
    required_of,
    types_of,
)
from engine.schema_rules import Rules, times
from engine.schema_scalars import number_of, text_of
from engine.schema_strings import any_of, literal, other_key_rule

DEEPEST_SCHEMA = 60
LARGEST_SCHEMA = 5000


def schema_grammar(schema: Any, field: str, limits: GrammarSettings) -> str:
    """The grammar, in GBNF, of the JSON texts that ``schema`` allows.

    Objects have their properties in the order of the schema, and further ones only where it says
    ``additionalProperties``. Raises RequestWrong, naming the place under ``field`` and the keyword that cannot be
    kept.
    """
    try:
        grammar = _Converter(schema, field, limits.most_comparisons).grammar()
    except RecursionError:
        raise RequestWrong(field=field, reason="too many levels") from None
    check_grammar(grammar, field, limits.most_beginnings)
    return grammar


class _Converter:
    """One schema being turned into rules. A place in it is named by the path to it."""

    def __init__(self, schema: Any, field: str, most_comparisons: int) -> None:
        self._schema = schema
        self._field = field
        self._schemas = Schemas(schema, most_comparisons)
        self._rules = Rules()
        self._references: dict[str, str] = {}
        self._seen = 0

    def grammar(self) -> str:
        return self._rules.grammar(self._rule(self._schema, self._field, 0))

    def _rule(self, schema: Any, at: str, depth: int) -> str:
        """What ``schema`` allows, as the right side of a rule."""
        self._seen += 1
        if depth > DEEPEST_SCHEMA or self._seen > LARGEST_SCHEMA:
            refuse(at, f"more than {DEEPEST_SCHEMA} levels or {LARGEST_SCHEMA} schemas")
        if schema is True:
            return self._rules.common("value")
        if not isinstance(schema, dict):
            refuse(at, "nothing fits it" if schema is False else "a schema is an object")
        for keyword, read in (
            ("$ref", self._reference),
            ("enum", self._choice),
            ("const", self._choice),
            ("anyOf", self._any_of),
            ("oneOf", self._one_of),
            ("allOf", self._all_of),
        ):
            if keyword in schema:
                return read(schema, at, depth)
        return self._typed(schema, at, depth)

    def _named(self, schema: Any, at: str, depth: int) -> str:
        """A rule of its own for ``schema``; its name."""
        return self._rules.add(self._rule(schema, at, depth + 1))

    def _reference(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        check_keywords(schema, at, {"$ref"})
        reference = schema["$ref"]
        if not isinstance(reference, str):
            refuse(f"{at}.$ref", "a text is needed")
        if reference not in self._references:
            found, target = self._schemas.follow(reference)
            if not found:
                refuse(f"{at}.$ref", "it leads to no place in this schema")
            # Named before it is read: it may hold itself.
            self._references[reference] = name = self._rules.add("")
            self._rules.put(name, self._rule(target, f"{self._field}{reference}", depth + 1))
        return self._references[reference]

    def _choice(self, schema: Mapping[str, Any], at: str, _depth: int) -> str:
        """``enum`` and ``const``: values as they are."""
        keyword = "enum" if "enum" in schema else "const"
        check_keywords(schema, at, {keyword, "type"})
        values = schema["enum"] if keyword == "enum" else [schema["const"]]
        if not isinstance(values, list):
            refuse(f"{at}.enum", "a list is needed")
        types = types_of(schema, at)
        fitting = [value for value in values if types is None or any(is_of(value, kind) for kind in types)]
        if not fitting:
            refuse(f"{at}.{keyword}", "nothing fits it")
        try:
            return any_of(json.dumps(value, ensure_ascii=False, allow_nan=False) for value in fitting)
        except ValueError:
            refuse(f"{at}.{keyword}", "JSON knows no such number")

    def _any_of(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        return self._union(schema, "anyOf", at, depth)

    def _one_of(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        union = self._union(schema, "oneOf", at, depth)
        try:
            apart = self._schemas.all_apart(schema["oneOf"])
        except TooManyComparisons:
            refuse(f"{at}.oneOf", "too many to be told apart, but by a const or an enum of a property that all require")
        if not apart:
            refuse(f"{at}.oneOf", "an answer could fit two of them; anyOf allows that")
        return union

    def _union(self, schema: Mapping[str, Any], keyword: str, at: str, depth: int) -> str:
        check_keywords(schema, at, {keyword})
        choices = list_of_some(schema[keyword], f"{at}.{keyword}")
        return " | ".join(self._named(choice, f"{at}.{keyword}[{n}]", depth) for n, choice in enumerate(choices))

    def _all_of(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        """One schema, or several objects that have no property in common."""
        check_keywords(schema, at, {"allOf"})
        choices = list_of_some(schema["allOf"], f"{at}.allOf")
        if len(choices) == 1:
            return self._rule(choices[0], f"{at}.allOf[0]", depth + 1)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for place, choice in enumerate(choices):
            here = f"{at}.allOf[{place}]"
            part = self._schemas.resolved(choice)
            if not isinstance(part, dict) or part.get("type", "object") != "object":
                refuse(here, "only objects can be put together")
            check_keywords(part, here, {"type", "properties", "required"})
            own = properties_of(part, here)
            if shared := own.keys() & properties.keys():
                refuse(f"{here}.properties.{min(shared)}", "another part of allOf has it too")
            properties |= own
            required += required_of(part, here)
        return self._object({"properties": properties, "required": required}, at, depth)

    def _typed(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        types = types_of(schema, at)
        if types is None:
            # No type is said: the one that the keywords speak of.
            types = [kind for kind, keywords in KEYWORDS.items() if keywords & schema.keys() and kind != "integer"]
        check_keywords(schema, at, {"type"}.union(*(KEYWORDS[kind] for kind in types)))
        if not types:
            return self._rules.common("value")
        if "number" in types:
            types = [kind for kind in types if kind != "integer"]
        if len(types) == 1:
            return self._of_type(types[0], schema, at, depth)
        return " | ".join(self._rules.add(self._of_type(kind, schema, at, depth)) for kind in types)

    def _of_type(self, kind: str, schema: Mapping[str, Any], at: str, depth: int) -> str:
        if kind == "object":
            return self._object(schema, at, depth)
        if kind == "array":
            return self._array(schema, at, depth)
        if kind == "string":
            return text_of(self._rules, schema, at)
        if kind in ("number", "integer"):
            return number_of(self._rules, kind, schema, at)
        return self._rules.common(kind)

    def _object(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        properties, required = properties_of(schema, at), required_of(schema, at)
        further = schema.get("additionalProperties", not (properties or required))
        if further is True and not (properties or required):
            return self._rules.common("object")
        space, parts = self._rules.common("space"), []
        for name, inner in properties.items():
            value = self._named(inner, f"{at}.properties.{name}", depth)
            parts.append((self._property(name, value), name in required))
        for name in required:
            if name not in properties:
                # Any value where the schema does not say.
                inner = schema.get("additionalProperties", True)
                value = self._named(inner, f"{at}.required.{name}", depth)
                parts.append((self._property(name, value), True))
        rest = ""
        if further is not False:
            key = other_key_rule({*properties, *required}, self._rules.common("character"))
            if key is None:
                refuse(f"{at}.additionalProperties", "not beside a property whose name JSON writes with escapes")
            value = self._named(further, f"{at}.additionalProperties", depth)
            parts.append((self._rules.add(f'{self._rules.add(key)} ":" {space} {value}'), False))
            rest = f'("," {space} {parts[-1][0]})*'
        inside = self._members(parts, rest)
        if all(not needed for _, needed in parts):
            inside = f"({inside} {space})?" if inside else ""
        else:
            inside = f"({inside}) {space}"
        return f'"{{" {space} {inside} "}}"'

    def _property(self, name: str, value: str) -> str:
        return self._rules.add(
            f"{literal(json.dumps(name, ensure_ascii=False) + ':')} {self._rules.common('space')} {value}"
        )

    def _members(self, parts: Sequence[tuple[str, bool]], rest: str) -> str:
        """The members of an object in their order, those left out that may be; ``rest`` follows the last one."""
        first_needed = next((place for place, (_, needed) in enumerate(parts) if needed), len(parts) - 1)
        beginnings: list[str] = []
        for place in range(len(parts) - 1, -1, -1):
            member, needed = parts[place]
            if place <= first_needed:
                # An object may begin here: what follows it gets a name, so that it is written once.
                rest = self._rules.add(rest) if rest else ""
                beginnings.insert(0, f"{member} {rest}")
            following = f'"," space {member}'
            rest = f"{following} {rest}" if needed else f"({following})? {rest}"
        return f"({' | '.join(beginnings)})" if beginnings else ""

    def _array(self, schema: Mapping[str, Any], at: str, depth: int) -> str:
        least, most = counts_of(schema, at, "minItems", "maxItems")
        unique = schema.get("uniqueItems", False)
        if unique is not False and (most is None or most > 1):
            refuse(f"{at}.uniqueItems", "a grammar cannot keep items apart")
        first = schema.get("prefixItems", [])
        if not isinstance(first, list):
            refuse(f"{at}.prefixItems", "a list is needed")
        space = self._rules.common("space")
        firsts = [self._named(inner, f"{at}.prefixItems[{n}]", depth) for n, inner in enumerate(first)][:most]
        items = schema.get("items", not first or least > len(first))
        left = None if most is None else most - len(firsts)
        if items is False or left == 0:
            if least > len(firsts):
                refuse(f"{at}.minItems", "nothing fits it")
            inside = f' "," {space} '.join(firsts)
            return f'"[" {space} {inside} {space} "]"' if firsts else f'"[" {space} "]"'
        if isinstance(items, list):
            refuse(f"{at}.items", "one schema is needed; a list of them is called prefixItems")
        item = self._named(items, f"{at}.items", depth)
        further = self._rules.add(f'"," {space} {item}')
        needed = max(0, least - len(firsts))
        if firsts:
            inside = f' "," {space} '.join(firsts)
            return f'"[" {space} {inside} {times(further, needed, left)} {space} "]"'
        inside = f"{item} {times(further, max(0, needed - 1), None if left is None else left - 1)} {space}"
        return f'"[" {space} {inside} "]"' if needed else f'"[" {space} ({inside})? "]"'
