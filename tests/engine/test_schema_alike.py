"""Whether no answer fits two choices of a ``oneOf`` is found out in little time, or the schema is refused."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import RequestWrong
from engine.schema import schema_grammar
from tests.engine.texts import LIMITS


def kinds(count: int) -> dict[str, Any]:
    """Objects that a property of all of them tells apart."""
    choices = [
        {
            "type": "object",
            "properties": {"place": {"type": "string"}, "kind": {"$ref": f"#/$defs/{number}"}},
            "required": ["place", "kind"],
        }
        for number in range(count)
    ]
    return {"oneOf": choices, "$defs": {str(number): {"enum": [f"k{number}", number]} for number in range(count)}}


def pairwise(count: int) -> dict[str, Any]:
    """Objects of which any two are told apart by the type of a property, and by another one than the next two."""
    names = [f"p{bit}" for bit in range(count.bit_length())]
    choices = [
        {
            "type": "object",
            "properties": {
                name: {"type": "string" if number >> bit & 1 else "number"} for bit, name in enumerate(names)
            },
            "required": names,
        }
        for number in range(count)
    ]
    return {"oneOf": choices}


def tower(name: str, levels: int) -> dict[str, Any]:
    """Objects with two properties, both of them the object of the next level."""
    objects = {
        f"{name}{level}": {
            "type": "object",
            "properties": {key: {"$ref": f"#/$defs/{name}{level + 1}"} for key in "ab"},
            "required": ["a", "b"],
        }
        for level in range(levels)
    }
    return {**objects, f"{name}{levels}": {"type": "string"}}


def test_choices_that_a_property_of_all_tells_apart_are_not_compared_with_each_other() -> None:
    limits = LIMITS.model_copy(update={"most_comparisons": 1})
    assert schema_grammar(kinds(250), "schema", limits)
    twice = kinds(250)
    twice["$defs"]["249"]["enum"].append("k0")
    with pytest.raises(RequestWrong):
        schema_grammar(twice, "schema", limits)


def test_choices_that_have_to_be_compared_are_refused_where_there_are_too_many() -> None:
    assert schema_grammar(pairwise(40), "schema", LIMITS)
    with pytest.raises(RequestWrong, match="too many to be told apart") as caught:
        schema_grammar(pairwise(250), "schema", LIMITS)
    assert caught.value.facts["field"] == "schema.oneOf"


def test_no_two_parts_of_a_schema_are_compared_twice() -> None:
    towers = {**tower("x", 25), **tower("y", 25)}
    schema = {"oneOf": [{"$ref": "#/$defs/x0"}, {"$ref": "#/$defs/y0"}], "$defs": towers}
    with pytest.raises(RequestWrong, match="fit two of them"):
        schema_grammar(schema, "schema", LIMITS)


def test_a_choice_that_is_there_twice_is_seen_before_any_two_are_compared() -> None:
    choices = [{"type": "integer"}, {"type": "null"}, {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]
    with pytest.raises(RequestWrong, match="fit two of them"):
        schema_grammar(
            {"oneOf": choices, "$defs": {"a": {"type": "string"}}},
            "schema",
            LIMITS.model_copy(update={"most_comparisons": 1}),
        )
