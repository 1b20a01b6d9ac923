"""Answers keep to a grammar or a JSON Schema to their end, over the real server and client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import RequestWrong
from engine.loaded import Loaded
from engine.sampler import Sampler
from engine.vocabulary import Vocabulary
from tests.engine.asking import post, text_of, written
from tests.engine.conftest import PATIENCE, Desk, House, ask
from tests.engine.texts import LIMITS

ANSWER = "The capital of France is Paris."
FRANCE = "What is the capital of France?"
STORY = "Write a story about the sea."
PERSON = "Describe a person called Begoña Núñez, known as “la «Ñandú» de Coruña”, as JSON."


SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 40},
            "home": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "maxLength": 20},
                    "floor": {"type": "integer", "minimum": -2},
                },
                "required": ["city", "floor"],
            },
        },
        "required": ["name", "home"],
    },
    {"type": "array", "items": {"enum": ["ñandú", 'la "cabra"', "ciervo\\gamo"]}, "minItems": 2, "maxItems": 3},
    {"type": "object", "properties": {"share": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["share"]},
    {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    {"const": 'Íñigo dijo: "sí"\n'},
]


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("temperature", [0, 1.5])
async def test_an_answer_under_a_schema_is_one_that_the_schema_allows(
    house: House, schema: dict[str, Any], temperature: float
) -> None:
    text, finished, _ = await written(
        house, PERSON, json_schema=schema, temperature=temperature, seed=11, max_tokens=150
    )
    assert finished.reason == "stop"
    check(json.loads(text), schema)


def check(value: Any, schema: dict[str, Any]) -> None:
    """The few keywords of ``SCHEMAS``."""
    for alternative in schema.get("anyOf", []):
        assert value is None or isinstance(value, bool), alternative
    assert value == schema.get("const", value)
    assert value in schema.get("enum", [value])
    kinds: dict[str, Any] = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
    if kind := schema.get("type"):
        assert isinstance(value, kinds[kind])
    if isinstance(value, int | float):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, str | list):
        assert len(value) <= schema.get("maxLength", schema.get("maxItems", len(value)))
    if isinstance(value, list):
        assert len(value) >= schema["minItems"]
        for entry in value:
            check(entry, schema["items"])
    if isinstance(value, dict):
        assert set(schema["required"]) <= value.keys() <= schema["properties"].keys()
        for name, entry in value.items():
            check(entry, schema["properties"][name])


async def test_openai_clients_get_json_by_response_format(house: House) -> None:
    body = {"messages": [{"role": "user", "content": PERSON}], "max_tokens": 120, "repeat_penalty": 1.0}
    schema = SCHEMAS[1]
    named = {"type": "json_schema", "json_schema": {"name": "animals", "strict": True, "schema": schema}}
    strict = (await post(house, "/v1/chat/completions", {**body, "response_format": named})).json()
    check(json.loads(strict["choices"][0]["message"]["content"]), schema)
    free = {"type": "json_object", "schema": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}}
    whole = (await post(house, "/v1/chat/completions", {**body, "response_format": free})).json()
    assert json.loads(whole["choices"][0]["message"]["content"]) == {"a": 1}
    text = (await post(house, "/v1/chat/completions", {**body, "response_format": {"type": "text"}})).json()
    assert text["choices"][0]["finish_reason"] in ("stop", "length")


async def test_an_answer_keeps_to_a_grammar_also_in_a_stream_and_beside_others(house: House) -> None:
    grammar = 'root ::= "La capital es " name "."\nname ::= "París" | "Lisboa" | "Peñíscola"\n'
    (text, finished, _), free = await asyncio.gather(written(house, FRANCE, grammar=grammar), text_of(house, FRANCE))
    assert text in ("La capital es París.", "La capital es Lisboa.", "La capital es Peñíscola.")
    assert finished.reason == "stop"
    assert free == "The capital of France is Paris."


async def test_an_answer_that_is_cut_inside_a_grammar_says_so(house: House) -> None:
    text, finished, _ = await written(house, FRANCE, grammar='root ::= "x"{30}', max_tokens=5)
    assert finished.reason == "length"
    assert set(text) == {"x"}


async def test_a_grammar_is_not_ended_before_it_ends(house: House, vocabulary: Vocabulary) -> None:
    assert vocabulary.eos is not None
    text, finished, _ = await written(
        house, FRANCE, grammar='root ::= "ab" "c"', logit_bias={vocabulary.eos: 100}, temperature=2.0, seed=1
    )
    assert (text, finished.reason) == ("abc", "stop")


@pytest.mark.parametrize("looks", [{}, {"first_tokens": 1, "tokens_at_once": 7}])
@pytest.mark.parametrize(("closing", "thought"), [(" capital", "The capital"), ("</think>", f"{ANSWER}</think>")])
def test_a_grammar_begins_where_the_thoughts_that_the_prompt_opened_are_closed(
    desk: Desk, closing: str, thought: str, looks: dict[str, int]
) -> None:
    limits = LIMITS.model_copy(update=looks)
    sampling = replace(desk.sampling(), grammar='root ::= "{" [0-9]{2} "}"')
    tokens: list[int] = []

    def write(loaded: Loaded) -> Generator[None, None, str]:
        sampler = Sampler(loaded.vocabulary, sampling, 0, limits, closing)
        prompt = loaded.prompt(ask(FRANCE)).ids
        with contextlib.closing(sampler), contextlib.closing(loaded.new_context(256, slots=1)) as context:
            context.decode([(token, place, 0, place == len(prompt) - 1) for place, token in enumerate(prompt)])
            row = len(prompt) - 1
            while not loaded.vocabulary.is_end(token := sampler.sample(context, row)):
                context.decode([(token, len(prompt) + len(tokens), 0, True)])
                tokens.append(token)
                row = 0
                yield
        return b"".join(map(loaded.vocabulary.token_bytes, tokens)).decode()

    text = desk.scheduler.run_in_background(write).result(timeout=PATIENCE)
    assert re.fullmatch(re.escape(thought) + r"\{\d\d\}", text)


async def test_a_grammar_and_a_bias_that_leave_nothing_end_one_answer_alone(
    house: House, vocabulary: Vocabulary
) -> None:
    banned = {token: -100 for token in range(vocabulary.size) if vocabulary.token_bytes(token) == b"z"}
    other = asyncio.ensure_future(text_of(house, FRANCE))
    with pytest.raises(RequestWrong) as caught:
        await text_of(house, FRANCE, grammar='root ::= "z"', logit_bias=banned)
    assert caught.value.facts["field"] == "grammar"
    assert await other == "The capital of France is Paris."


@pytest.mark.parametrize(
    "grammar",
    [
        pytest.param('root ::= s "b"\ns ::= "a" s | "a" s "c" | "a" s "d" | "a"', id="what was written"),
        pytest.param(f"root ::= {'[a-z]? ' * 40}", id="what may follow"),
    ],
)
async def test_a_grammar_that_can_be_read_in_ever_more_ways_ends_its_own_answer_alone(
    house: House, vocabulary: Vocabulary, grammar: str
) -> None:
    (letter,) = vocabulary.tokenize("a", special=False)
    other = asyncio.ensure_future(text_of(house, FRANCE))
    with pytest.raises(RequestWrong, match="too many ways"):
        # More likely than without, so that the whole vocabulary is looked at.
        await text_of(house, FRANCE, grammar=grammar, logit_bias={letter: 100 if "s ::=" in grammar else 0.1})
    assert await other == "The capital of France is Paris."


def test_the_shortcut_of_a_grammar_takes_what_the_whole_vocabulary_would_give(desk: Desk) -> None:
    grammar = 'root ::= ([A-Z] [a-z]+ " "){3} "."'
    sampling = replace(desk.sampling(30), grammar=grammar)
    short, _ = desk.put(STORY, sampling).end()
    # A bias upwards, on a token that never fits, has it look at the whole vocabulary.
    whole, _ = desk.put(STORY, replace(sampling, logit_bias={0: 1e-6})).end()
    assert short == whole
    penalised = replace(sampling, repeat_penalty=1.3, temperature=0)
    assert desk.put(STORY, penalised).end()[0] == desk.put(STORY, replace(penalised, logit_bias={0: 1e-6})).end()[0]
