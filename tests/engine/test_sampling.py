"""Every field that says how an answer is written changes what it should, over the real server and client."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.answers import Delta, Finished, TokenLogprob
from engine.errors import RequestWrong
from engine.jobs import Written
from engine.vocabulary import Vocabulary
from tests.engine.asking import openai, post
from tests.engine.conftest import Desk, House, ask

FRANCE = "What is the capital of France?"
STORY = "Write a story about the sea."
PERSON = "Describe a person called Begoña Núñez, known as “la «Ñandú» de Coruña”, as JSON."


async def written(house: House, text: str, **changes: Any) -> tuple[str, Finished, list[TokenLogprob]]:
    """The answer through the client, the likeliest one unless ``changes`` say otherwise."""
    sampling = replace(house.sampling(), **changes)
    pieces: list[str] = []
    worth: list[TokenLogprob] = []
    async for piece in house.client.chat(ask(text), sampling):
        if isinstance(piece, Finished):
            return "".join(pieces), piece, worth
        assert isinstance(piece, Delta)
        pieces.append(piece.text)
        worth += piece.logprobs
    raise AssertionError("no end")


async def text_of(house: House, text: str, **changes: Any) -> str:
    return (await written(house, text, **changes))[0]


async def test_the_likeliest_answer_and_one_from_a_seed_are_the_same_each_time(house: House) -> None:
    likeliest = [await text_of(house, STORY) for _ in range(2)]
    assert likeliest[0] == likeliest[1]
    warm: dict[str, Any] = {"temperature": 1.2, "top_k": 0, "top_p": 1.0}
    seven = [await text_of(house, STORY, seed=7, **warm) for _ in range(2)]
    assert seven[0] == seven[1] != likeliest[0]
    assert await text_of(house, STORY, seed=8, **warm) != seven[0]
    # Without a seed each answer has its own.
    assert len({await text_of(house, STORY, **warm) for _ in range(3)}) > 1


@pytest.mark.parametrize("narrow", [{"top_k": 1}, {"top_p": 0.001}, {"min_p": 1.0}, {"temperature": 0.001}])
async def test_every_way_to_cut_the_tail_of_the_choice_comes_down_to_the_likeliest(
    house: House, narrow: dict[str, Any]
) -> None:
    warm = {"temperature": 3.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 5}
    likeliest = await text_of(house, STORY)
    assert await text_of(house, STORY, **warm) != likeliest
    assert await text_of(house, STORY, **{**warm, **narrow}) == likeliest


@pytest.mark.parametrize("penalty", [{"repeat_penalty": 2.0}, {"frequency_penalty": 2.0}, {"presence_penalty": 2.0}])
async def test_penalties_keep_the_model_from_saying_a_thing_again(house: House, penalty: dict[str, float]) -> None:
    question = "Say the word yes twenty times: yes yes yes"
    plain = await text_of(house, question, max_tokens=24)
    held = await text_of(house, question, max_tokens=24, **penalty)
    assert most_repeated(held) < most_repeated(plain)
    assert await text_of(house, question, max_tokens=24, repeat_window=0, **penalty) == plain
    # A bias beside it, here on a token that never comes, takes nothing away from it.
    assert await text_of(house, question, max_tokens=24, logit_bias={0: 0.001}, **penalty) == held


def most_repeated(text: str) -> int:
    words = text.lower().split()
    return max(words.count(word) for word in words)


async def test_a_negative_penalty_has_the_model_repeat_itself(house: House) -> None:
    text = await text_of(house, STORY, presence_penalty=-2.0, frequency_penalty=-2.0, max_tokens=24)
    assert most_repeated(text) > most_repeated(await text_of(house, STORY, max_tokens=24))


async def test_a_bias_forces_a_token_and_forbids_one(house: House, vocabulary: Vocabulary) -> None:
    banana, paris = [vocabulary.tokenize(text, special=False)[0] for text in (" banana", " Paris")]
    assert vocabulary.token_bytes(paris) == b" Paris"
    forced = await text_of(house, FRANCE, logit_bias={banana: 100}, max_tokens=4)
    assert forced == vocabulary.token_bytes(banana).decode() * 4
    assert "Paris" not in await text_of(house, FRANCE, logit_bias={paris: -100})
    # OpenAI's clients write the ids as texts.
    messages = [{"role": "user", "content": FRANCE}]
    body = {"messages": messages, "max_tokens": 3, "logit_bias": {str(banana): 100}}
    whole = (await post(house, "/v1/chat/completions", body)).json()
    assert whole["choices"][0]["message"]["content"] == forced[: len(forced) // 4 * 3]


async def test_a_stop_text_ends_the_answer_before_it(house: House) -> None:
    text, finished, _ = await written(house, FRANCE, stop=("of France",))
    assert (text, finished.reason) == ("The capital ", "stop")


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


async def test_a_grammar_and_a_bias_that_leave_nothing_end_one_answer_alone(
    house: House, vocabulary: Vocabulary
) -> None:
    banned = {token: -100 for token in range(vocabulary.size) if vocabulary.token_bytes(token) == b"z"}
    other = asyncio.ensure_future(text_of(house, FRANCE))
    with pytest.raises(RequestWrong) as caught:
        await text_of(house, FRANCE, grammar='root ::= "z"', logit_bias=banned)
    assert caught.value.facts["field"] == "grammar"
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


async def test_logprobs_are_those_of_the_scoring_and_not_of_the_sampling(house: House) -> None:
    text, finished, worth = await written(
        house, FRANCE, logprobs=True, top_logprobs=20, temperature=2.0, top_k=1, repeat_penalty=1.5
    )
    assert len(worth) == finished.usage.answer_tokens
    assert b"".join(token.bytes for token in worth).decode() == text
    scored = await house.client.score(ask(FRANCE), text, top=20)
    assert [token.token for token in scored[:-1]] == [token.token for token in worth]
    for mine, theirs in zip(worth, scored, strict=False):
        assert mine.logprob == pytest.approx(theirs.logprob, abs=0.02)
        assert [other.logprob for other in mine.top] == sorted((other.logprob for other in mine.top), reverse=True)
        assert len(mine.top) == 20
        assert np.exp([other.logprob for other in mine.top]).sum() <= 1.0001


async def test_openai_clients_get_logprobs_with_every_token(house: House) -> None:
    await house.client.start()
    body = {"messages": [{"role": "user", "content": FRANCE}], "max_tokens": 4, "logprobs": True, "top_logprobs": 2}
    async with openai(house) as client:
        whole = (await client.post("/v1/chat/completions", json=body)).json()
        streamed = await client.post("/v1/chat/completions", json={**body, "stream": True})
        plain = (await client.post("/v1/chat/completions", json={**body, "logprobs": False, "top_logprobs": 0})).json()
    content = whole["choices"][0]["logprobs"]["content"]
    assert len(content) == whole["usage"]["completion_tokens"]
    assert {"token", "logprob", "bytes", "top_logprobs"} <= content[0].keys()
    assert [len(entry["top_logprobs"]) for entry in content] == [2] * len(content)
    assert content[0]["top_logprobs"][0]["token"] == content[0]["token"]
    lines = [line.removeprefix("data: ") for line in streamed.text.splitlines() if line.startswith("data: {")]
    chunks = [json.loads(line)["choices"][0] for line in lines]
    again = [entry for chunk in chunks for entry in (chunk.get("logprobs") or {"content": []})["content"]]
    assert [entry["id"] for entry in again] == [entry["id"] for entry in content]
    assert "logprobs" not in plain["choices"][0]


def test_a_token_that_is_half_a_character_is_told_before_its_text(desk: Desk) -> None:
    sampling = replace(desk.sampling(12), grammar='root ::= "ñ👍"', logprobs=True)
    asked = desk.put(FRANCE, sampling)
    events: list[Written] = []
    while isinstance(event := asked.first(), Written):
        events.append(event)
    assert isinstance(event, Finished)
    assert "".join(each.text for each in events) == "ñ👍"
    assert any(not each.text for each in events)
    assert b"".join(token.bytes for each in events for token in each.logprobs).decode() == "ñ👍"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"temperature": 6}, "temperature"),
        ({"top_k": -1}, "top_k"),
        ({"top_p": 0}, "top_p"),
        ({"min_p": 2}, "min_p"),
        ({"repeat_penalty": 0}, "repeat_penalty"),
        ({"frequency_penalty": 3}, "frequency_penalty"),
        ({"presence_penalty": "a"}, "presence_penalty"),
        ({"seed": -1}, "seed"),
        ({"n": 2}, "n"),
        ({"stop": 3}, "stop"),
        ({"logit_bias": [1]}, "logit_bias"),
        ({"logit_bias": {"a": 1}}, "logit_bias.a"),
        ({"logit_bias": {"5": 101}}, "logit_bias.5"),
        ({"logit_bias": {"5": True}}, "logit_bias.5"),
        ({"logit_bias": {"99999999": 1}}, "logit_bias.99999999"),
        ({"logit_bias": {str(token): 1 for token in range(1025)}}, "logit_bias"),
        ({"logprobs": 1}, "logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"grammar": 7}, "grammar"),
        ({"grammar": "hello"}, "grammar"),
        ({"grammar": 'root ::= "a"', "json_schema": {}}, "json_schema"),
        ({"json_schema": {"pattern": 3}}, "json_schema.pattern"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"items": {"not": {}}}}}},
            "response_format.json_schema.schema.items.not",
        ),
    ],
)
async def test_a_wrong_value_is_refused_by_its_field(house: House, wrong: dict[str, Any], field: str) -> None:
    body = {"messages": [{"role": "user", "content": FRANCE}], "max_tokens": 4, **wrong}
    answered = await post(house, "/v1/chat/completions", body)
    assert answered.status_code == 400
    error = answered.json()["error"]
    assert (error["code"], error["facts"]["field"]) == (RequestWrong.code, field)
