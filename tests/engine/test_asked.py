"""What is asked and cannot be given is the asker's mistake and told by its name; nothing is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import AdapterMismatch, RequestWrong, SnapshotBroken
from tests.engine.asking import post
from tests.engine.conftest import House
from tests.engine.snapshots import store

CHAT = "/v1/chat/completions"
MESSAGES = [{"role": "user", "content": "What is the capital of France?"}]
# A right request of each route that reads JSON.
RIGHT: dict[str, dict[str, Any]] = {
    CHAT: {"messages": MESSAGES, "max_tokens": 1},
    "/v1/embeddings": {"input": "a"},
    "/score": {"messages": MESSAGES, "completion": "a"},
    "/tokenize": {"content": "a"},
}


@pytest.mark.parametrize("manifest", ["x", "0" * 64, "../../x"])
@pytest.mark.parametrize("route", [*RIGHT, "/snapshot"])
async def test_a_snapshot_that_is_not_there_is_the_asker_s_mistake(house: House, route: str, manifest: str) -> None:
    refused = await post(house, route, {**RIGHT.get(route, {}), "manifest": manifest})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, SnapshotBroken.code)
    assert refused.json()["error"]["facts"]["digest"] == manifest


async def test_an_adapter_that_is_none_is_the_asker_s_mistake(house: House) -> None:
    adapters = [{"sha256": store(house.home, b"no adapter")}]
    refused = await post(house, CHAT, {**RIGHT[CHAT], "adapters": adapters})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, AdapterMismatch.code)


def saying(**fields: Any) -> dict[str, Any]:
    """A chat request whose one message holds these fields too."""
    return {"messages": [{**MESSAGES[0], **fields}]}


FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "schemas": {}}}
CALL = {"id": "a", "type": "function", "function": {"name": "a", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        *(({name: value}, name) for name, value in (
            ("temprature", 0.5), ("presence_penaltyy", 1), ("n_predict", 5), ("num_predict", 5), ("typical_p", 0.5),
            ("ignore_eos", True), ("mirostat", 2), ("guided_json", {}), ("functions", []), ("stream_options", "x"),
            ("x" * 100, False),
        )),
        ({"stream_options": {"usage": True}}, "stream_options.usage"),
        ({"stream_options": {"include_usage": "x"}}, "stream_options.include_usage"),
        ({"stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
        ({"adapters": [{"sha256": "0" * 64, "weight": 2}]}, "adapters[0].weight"),
        (
            {"private": {"member": "0" * 32, "sha256": "0" * 64, "strength": 2}, "manifest": "0" * 64},
            "private.strength",
        ),
        ({"response_format": {"type": "text", "schema": {}}}, "response_format.schema"),
        ({"response_format": FORM}, "response_format.json_schema.schemas"),
        ({"tools": [{"type": "function", "function": {"name": "a"}, "when": "now"}]}, "tools[0].when"),
        (saying(prefix=True), "messages[0].prefix"),
        (saying(content=[{"type": "text", "text": "a", "loud": True}]), "messages[0].content[0].loud"),
        (saying(role="assistant", tool_calls=[{**CALL, "when": "now"}]), "messages[0].tool_calls[0].when"),
        ({"max_tokens": 8, "max_completion_tokens": 3}, "max_completion_tokens"),
    ],
)  # fmt: skip
async def test_what_nobody_reads_in_a_question_is_refused_by_its_name(
    house: House, more: dict[str, Any], field: str
) -> None:
    refused = await post(house, CHAT, {**RIGHT[CHAT], **more})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, RequestWrong.code)
    assert refused.json()["error"]["facts"]["field"] == field


@pytest.mark.parametrize("route", [*RIGHT, "/snapshot", "/cancel"])
async def test_what_nobody_reads_is_refused_on_every_route(house: House, route: str) -> None:
    for name in ("temprature", *(["temperature"] if route != CHAT else [])):
        given = {"id": "a"} if route == "/cancel" else RIGHT.get(route, {"manifest": house.digest})
        refused = await post(house, route, {**given, name: 0.5})
        assert (refused.status_code, refused.json()["error"]["facts"]["field"]) == (400, name)


@pytest.mark.parametrize("route", RIGHT)
async def test_what_asks_nothing_of_the_answer_is_passed_over(house: House, route: str) -> None:
    more = {"model": "any", "metadata": {"a": "b"}, "store": False, "service_tier": "auto", "functions": None}
    answered = await post(house, route, {**RIGHT[route], **more, "safety_identifier": "a", "prompt_cache_key": "b"})
    assert answered.status_code == 200, answered.text


async def test_an_answer_goes_back_as_an_openai_client_writes_it(house: House) -> None:
    nothing: dict[str, Any] = dict.fromkeys(("refusal", "audio", "function_call"))
    said = {"role": "assistant", "content": "Hm.", "reasoning_content": "?", "annotations": [], **nothing}
    again = {"messages": [*MESSAGES, {**said, "tool_calls": [{"index": 0, **CALL}]}, *MESSAGES]}
    limits = {"max_tokens": 1, "max_completion_tokens": 1, "stream_options": {"include_usage": True}}
    answered = await post(house, CHAT, {**again, **limits})
    assert answered.status_code == 200, answered.text
