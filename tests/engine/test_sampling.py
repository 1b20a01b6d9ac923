"""Every field that says how an answer is written changes what it should, over the real server and client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.answers import Finished
from engine.errors import RequestWrong
from engine.jobs import Written
from engine.vocabulary import Vocabulary
from tests.engine.asking import openai, post, text_of, written
from tests.engine.conftest import Desk, House, ask

FRANCE = "What is the capital of France?"
STORY = "Write a story about the sea."


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


@pytest.mark.parametrize(("field", "most"), [("top_p", 1), ("repeat_penalty", 5)])
async def test_the_range_that_is_told_is_the_one_that_is_taken(house: House, field: str, most: int) -> None:
    def body(value: float) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": FRANCE}], "max_tokens": 1, field: value}

    refused = (await post(house, "/v1/chat/completions", body(0))).json()["error"]["facts"]["reason"]
    assert refused == f"a number from 0.0001 to {most} is needed"
    assert (await post(house, "/v1/chat/completions", body(0.0001))).status_code == 200
