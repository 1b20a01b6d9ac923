"""A JSON Schema becomes a grammar of answers that it allows, or is refused at the keyword that cannot be kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.errors import RequestWrong
from engine.schema import schema_grammar
from engine.vocabulary import Vocabulary
from tests.engine.texts import LIMITS, accepts

PERSON = {
    "type": "object",
    "title": "Persona",
    "properties": {
        "name": {"type": "string", "description": "full name"},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "email": {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}], "default": None},
    },
    "required": ["name"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "number"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value"],
        }
    },
}
KINDS = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
            "required": ["kind"],
        },
        {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "inside", "outside"),
    [
        (
            PERSON,
            [
                {"name": 'Íñigo "el" \\ 👍'},
                {"name": "", "age": 130},
                {"name": "a", "email": "a.b@casa.es"},
                {"name": "a", "age": 0, "email": None},
            ],
            [
                {},
                {"age": 3},
                {"name": 3},
                {"name": "a", "age": 131},
                {"name": "a", "age": 1.5},
                {"name": "a", "x": 1},
                {"name": "a", "email": "no"},
            ],
        ),
        (
            TREE,
            [{"value": 1}, {"value": -0.5, "children": [{"value": 2, "children": []}]}],
            [{}, {"value": 1, "children": [{}]}],
        ),
        (KINDS, [{"kind": "cat", "lives": 7}, {"kind": "dog"}], [{"kind": "dog", "lives": 7}, {"kind": "cow"}]),
        (True, [None, 3, "a", [1, {"a": {}}], {"x": [True, False]}], []),
        ({}, [{"a": 1}, []], []),
        ({"type": "object"}, [{}, {"a": {"b": [1, 2]}}], [[], 1]),
        ({"enum": ["niño", "niña", 'n"', 3, None, True]}, ["niño", "niña", 'n"', 3, None, True], ["nin", 1, False, ""]),
        ({"const": {"a": [1, "é"]}}, [{"a": [1, "é"]}], [{"a": [1]}, {}]),
        ({"type": ["string", "null"], "maxLength": 2}, ["ñ", "", "👍é", None], ["abc", 1]),
        ({"type": "string", "minLength": 2, "maxLength": 2}, ['\n"', "ñá"], ["a", "abc"]),
        ({"type": "string", "maxLength": 0}, [""], ["a"]),
        ({"minLength": 1}, ["a"], ["", 1]),
        (
            {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
            [[True], [True, False]],
            [[], [True] * 3],
        ),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [[1, 2], [1, 2, 3]], [[], [1]]),
        ({"type": "array", "maxItems": 0}, [[]], [[1]]),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            [["a", 1]],
            [[], ["a", 1, 2]],
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "maxItems": 2},
            [["a"], ["a", 1]],
            [["a", 1, 2], ["a", "b"]],
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "ñ": 2}], [{"a": "b"}]),
        (
            {
                "properties": {"name": {"type": "string"}, "nam": {"type": "null"}},
                "additionalProperties": {"type": "integer"},
            },
            [{}, {"name": "a"}, {"name": "a", "nam": None, "na": 1, "names": 2}, {"x": 1}, {"": 1}],
            [{"name": 1}, {"x": "a"}, {"nam": 1}],
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"b": True}},
            [{"a": [1]}, {"b": 1, "a": 2}],
            [{}, {"b": 1}],
        ),
        (
            {"type": "object", "properties": {"a": True, "b": True, "c": True}, "required": ["b"]},
            [{"b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, {"b": 1, "c": 1}],
            [{}, {"a": 1}, {"a": 1, "c": 1}],
        ),
        (
            {
                "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"type": "integer"}}}],
                "$defs": {"a": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
            },
            [{"x": 1}, {"x": 1, "y": 2}],
            [{}, {"y": 2}],
        ),
        (
            {"type": "string", "format": "date"},
            ["2026-11-30", "2028-02-29", "2000-02-29"],
            ["2026-11-31", "2027-02-29", "1900-02-29", "hoy"],
        ),
        (
            {"type": "string", "format": "date-time"},
            ["2026-11-30T23:59:00Z", "2026-01-02T03:04:05.5+01:00"],
            ["2026-11-30 23:59:00", "2026-01-02T24:00:00Z"],
        ),
        ({"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
        ({"type": "string", "format": "ipv4"}, ["192.168.1.255"], ["192.168.1.256", "1.2.3"]),
        (
            {"type": "string", "pattern": r"^\d{3}-[A-ZÑ]{2,}( x)?$"},
            ["123-ÑA", "123-ABC x"],
            ["12-AB", "123-A", "123-AB "],
        ),
        ({"pattern": r'^(sí|no|"\\?")[^\d"]*?$'}, ["sí", "no, ", '"\\"ab\n', '""'], ["si", "no1", 'sí"']),
        ({"pattern": r"^.\s\S\w\W$"}, ["ñ\t👍_é"], ["\n a_-", "a  _-", "a b--"]),
        ({"pattern": "^$"}, [""], ["a"]),
        ({"pattern": r"^\x41\u00f1[\n-\r]\/\$$"}, ["Añ\n/$", "Añ\r/$"], ["Añ\t/$"]),
        ({"type": "integer", "exclusiveMinimum": -3, "maximum": 12}, [-2, 0, 9, 10, 12], [-3, 13, 1.5]),
        ({"type": "integer", "minimum": 7, "exclusiveMaximum": 23}, [7, 9, 10, 22], [6, 23, 24, 70]),
        ({"type": "number", "exclusiveMaximum": -0.5}, [-0.6, -0.51, -3, -12.5], [-0.5, -0.4, 0, 1]),
        ({"type": "integer", "minimum": 95}, [95, 99, 100, 123456], [94, 9, -95]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 0.5, 1, 0.001], [-0.1, 1.1, 2]),
        (
            {"type": "number", "exclusiveMinimum": -1.25, "maximum": 3.5},
            [-1.24, -1, 0, 3, 3.5, 3.25],
            [-1.25, -1.3, 3.51, 4],
        ),
        ({"type": ["integer", "number"]}, [1, -2.5], ["a"]),
    ],
)
def test_a_grammar_lets_through_what_its_schema_allows(
    vocabulary: Vocabulary, schema: Any, inside: list[Any], outside: list[Any]
) -> None:
    grammar = schema_grammar(schema, "schema", LIMITS)

    def fits(value: Any) -> bool:
        return accepts(vocabulary, grammar, json.dumps(value, ensure_ascii=False))

    assert [value for value in inside if not fits(value)] == []
    assert [value for value in outside if fits(value)] == []


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        (7, ""),
        (False, ""),
        ({"type": "text"}, ".type"),
        ({"type": []}, ".type"),
        ({"type": "string", "pattern": "a"}, ".pattern"),
        ({"type": "string", "pattern": 7}, ".pattern"),
        ({"type": "string", "pattern": "^a$", "maxLength": 3}, ".pattern"),
        ({"type": "string", "pattern": "^a|b$"}, ".pattern"),
        ({"type": "string", "pattern": "^(a$"}, ".pattern"),
        ({"type": "string", "pattern": "^(?=a)b$"}, ".pattern"),
        ({"type": "string", "pattern": r"^(a)\1$"}, ".pattern"),
        ({"type": "string", "pattern": r"^\bx$"}, ".pattern"),
        ({"type": "string", "pattern": "^[$"}, ".pattern"),
        ({"type": "string", "pattern": "^[]$"}, ".pattern"),
        ({"type": "string", "pattern": r"^[^\D]$"}, ".pattern"),
        ({"type": "string", "pattern": "^[z-a]$"}, ".pattern"),
        ({"type": "string", "pattern": r"^\u12$"}, ".pattern"),
        ({"type": "string", "pattern": r"^\p{L}$"}, ".pattern"),
        ({"type": "string", "pattern": "^a{2,1}$"}, ""),
        ({"type": "string", "pattern": "^*$"}, ".pattern"),
        ({"type": "string", "format": "hostname"}, ".format"),
        ({"type": "string", "format": "date", "maxLength": 3}, ".format"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, ".minLength"),
        ({"type": "string", "maxLength": 5000}, ".maxLength"),
        ({"type": "string", "minimum": 3}, ".minimum"),
        ({"type": "integer", "multipleOf": 5}, ".multipleOf"),
        ({"type": "integer", "minimum": "3"}, ".minimum"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, ""),
        ({"type": "number", "minimum": 1e300}, ".minimum"),
        ({"type": "number", "minimum": float("nan")}, ".minimum"),
        ({"type": "number", "exclusiveMinimum": True}, ".exclusiveMinimum"),
        ({"type": "array", "uniqueItems": True}, ".uniqueItems"),
        ({"type": "array", "contains": {}}, ".contains"),
        ({"type": "array", "items": [{}]}, ".items"),
        ({"type": "array", "prefixItems": {}}, ".prefixItems"),
        ({"type": "array", "prefixItems": [{}], "items": False, "minItems": 2}, ".minItems"),
        ({"type": "object", "minProperties": 1}, ".minProperties"),
        ({"type": "object", "patternProperties": {}}, ".patternProperties"),
        ({"type": "object", "properties": []}, ".properties"),
        ({"type": "object", "required": "a"}, ".required"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, ".required.a"),
        (
            {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"if": {}}}}}},
            ".properties.a.properties.b.if",
        ),
        ({"type": "object", "properties": {'a"': True}, "additionalProperties": True}, ".additionalProperties"),
        ({"enum": []}, ".enum"),
        ({"enum": "abc"}, ".enum"),
        ({"enum": [1, 2], "type": "string"}, ".enum"),
        ({"enum": ["\ud83d"]}, ""),
        ({"enum": ["a"], "minLength": 2}, ".minLength"),
        ({"const": float("inf")}, ".const"),
        ({"anyOf": []}, ".anyOf"),
        ({"anyOf": [{"type": "x"}]}, ".anyOf[0].type"),
        ({"anyOf": [True], "type": "string"}, ".type"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, ".oneOf"),
        ({"oneOf": [{"type": "object"}, {"type": "object"}]}, ".oneOf"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, ".allOf[0]"),
        ({"allOf": [{"properties": {"a": True}}, {"properties": {"a": True}}]}, ".allOf[1].properties.a"),
        ({"not": {"type": "string"}}, ".not"),
        ({"$ref": "#/$defs/none"}, ".$ref"),
        ({"$ref": "https://example.org/a.json"}, ".$ref"),
        ({"$ref": {}}, ".$ref"),
        ({"format": []}, ".format"),
        ({"$ref": "#"}, ""),
        ({"$ref": "#/$defs/a", "maxLength": 3, "$defs": {"a": {"type": "string"}}}, ".maxLength"),
        ({"nullable": True, "type": "string"}, ".nullable"),
    ],
)
def test_a_schema_that_cannot_be_kept_is_refused_at_its_place(schema: Any, field: str) -> None:
    with pytest.raises(RequestWrong) as caught:
        schema_grammar(schema, "schema", LIMITS)
    assert caught.value.facts["field"] == "schema" + field


def test_a_schema_whose_answer_would_never_end_is_refused() -> None:
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    with pytest.raises(RequestWrong) as caught:
        schema_grammar(endless, "schema", LIMITS)
    assert "never ends" in str(caught.value.facts["reason"])


def test_a_schema_of_a_thousand_levels_is_refused() -> None:
    deep: Any = {}
    for _ in range(1000):
        deep = {"type": "array", "items": deep}
    with pytest.raises(RequestWrong, match="levels"):
        schema_grammar(deep, "schema", LIMITS)


def test_an_enumeration_of_many_names_is_read_as_one(vocabulary: Vocabulary) -> None:
    names = [f"persona {number}" for number in range(1500)]
    grammar = schema_grammar({"enum": names}, "schema", LIMITS)
    assert accepts(vocabulary, grammar, '"persona 1499"')
    assert not accepts(vocabulary, grammar, '"persona 1500"')


@pytest.mark.parametrize("text", ['"a\nb"', '"a\tb"', '"a\x7fb"', '"a\\qb"', '"a\\ud83d"', '"a" ', ' "a"', "'a'"])
def test_only_json_is_let_through(vocabulary: Vocabulary, text: str) -> None:
    assert not accepts(vocabulary, schema_grammar({"type": "string"}, "schema", LIMITS), text)


@pytest.mark.parametrize("text", ["01", "+1", ".5", "1.", "1e999", "NaN", "0x1", "-"])
def test_only_numbers_of_json_are_let_through(vocabulary: Vocabulary, text: str) -> None:
    assert not accepts(vocabulary, schema_grammar({"type": "number"}, "schema", LIMITS), text)
