"""Over the real server: what a model thinks, says and calls reaches clients apart, and comes back as it knows it.

The starter model is held to what it shall write by a grammar: everything from its tokens on is real.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Called, Delta, Finished, Piece, Thought, Waiting
from engine.client import EngineClient
from engine.messages import PLAIN, Message, PromptOptions, ToolCall
from engine.vocabulary import Vocabulary
from tests.conftest import end_engine
from tests.engine.conftest import CONFIG, PATIENCE, House, ask
from tests.engine.snapshots import write_manifest, write_thinker

WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}
SHORT_WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string", "maxLength": 20}},
            "required": ["place"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock"}}
ANYTHING = {"type": "function", "function": {"name": "any", "parameters": {"additionalProperties": True}}}
OPTIONS = PromptOptions((WEATHER,))
CALL = '<tool_call>\n{"name": "weather", "arguments": {"place": "Soria"}}\n</tool_call>'
QUESTION = "Will it snow in Soria?"


def only(text: str) -> str:
    """The grammar that allows nothing but ``text``."""
    return f"root ::= {json.dumps(text, ensure_ascii=False)}"


def body(text: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": QUESTION}]
    return {"messages": messages, "grammar": only(text), "temperature": 0, "max_tokens": 200, **more}


async def post(house: House, content: dict[str, Any]) -> httpx.Response:
    """Any OpenAI client's request."""
    await house.client.start()
    transport = httpx.AsyncHTTPTransport(uds=str(house.home.engine_socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=PATIENCE) as client:
        return await client.post("/v1/chat/completions", json=content)


async def answered(house: House, content: dict[str, Any]) -> dict[str, Any]:
    """The one choice of an answer that is not streamed."""
    answer = await post(house, content)
    assert answer.status_code == 200, answer.text
    choice: dict[str, Any] = answer.json()["choices"][0]
    return choice


async def pieces(house: House, text: str, options: PromptOptions = PLAIN) -> list[Waiting | Piece | Finished]:
    """The answer ``text`` through the client."""
    sampling = house.sampling(200)
    held = type(sampling)(**{**vars(sampling), "grammar": only(text)})
    return [piece async for piece in house.client.chat(ask(QUESTION), held, options=options)]


@pytest.fixture(scope="module")
def thinking_house(
    tmp_path_factory: pytest.TempPathFactory, engine_settings: EngineSettings, starter: Path
) -> Iterator[House]:
    """The starter as a model whose template says that it thinks."""
    home = Home(tmp_path_factory.mktemp("thinking"))
    home.prepare()
    home.config_file.write_text(CONFIG)
    write_thinker(home, starter)
    digest = write_manifest(home, starter, model="thinker")
    yield House(home, EngineClient(home, engine_settings, lambda: digest), engine_settings, starter, digest)
    end_engine(home)


async def test_a_call_reaches_an_openai_client_as_one(house: House) -> None:
    choice = await answered(house, body(CALL, tools=[WEATHER]))
    assert choice["finish_reason"] == "tool_calls"
    (call,) = choice["message"]["tool_calls"]
    assert choice["message"]["content"] is None
    assert call["function"] == {"name": "weather", "arguments": '{"place": "Soria"}'}
    assert len(call["id"]) == 9


@pytest.mark.parametrize("more", [{}, {"tools": []}, {"tools": [WEATHER], "tool_choice": "none"}])
async def test_what_looks_like_a_call_is_text_where_no_tool_was_offered(house: House, more: dict[str, Any]) -> None:
    choice = await answered(house, body(CALL, **more))
    assert choice["message"] == {"role": "assistant", "content": CALL}
    assert choice["finish_reason"] == "stop"


async def test_a_call_of_a_tool_that_was_not_offered_is_text(house: House) -> None:
    written = CALL.replace("weather", "order_pizza")
    choice = await answered(house, body(written, tools=[WEATHER]))
    assert choice["message"] == {"role": "assistant", "content": written}


async def test_a_client_gets_text_and_calls_apart(house: House) -> None:
    *found, finished = await pieces(house, f"I look.\n{CALL}", OPTIONS)
    assert "".join(piece.text for piece in found if isinstance(piece, Delta)) == "I look."
    assert [(p.call.name, p.call.arguments) for p in found if isinstance(p, Called)] == [
        ("weather", {"place": "Soria"})
    ]
    assert isinstance(finished, Finished)
    assert finished.reason == "tool_calls"


async def test_a_model_that_goes_in_circles_is_stopped(house: House) -> None:
    *found, finished = await pieces(house, CALL * 3 + " and much more that nobody needs", OPTIONS)
    assert len(found) == 1
    assert isinstance(finished, Finished)
    assert finished.reason == "tool_calls"
    once = await pieces(house, CALL, OPTIONS)
    assert isinstance(once[-1], Finished)
    assert finished.usage.answer_tokens < 3 * once[-1].usage.answer_tokens


@pytest.mark.parametrize(("choice", "names"), [("required", {"weather", "clock"}), (CLOCK, {"clock"})])
@pytest.mark.parametrize("temperature", [0, 1.5])
async def test_a_model_that_must_call_a_tool_calls_one_of_those_that_it_may(
    house: House, choice: Any, names: set[str], temperature: float
) -> None:
    asked = {"messages": [{"role": "user", "content": "Tell me a story."}], "max_tokens": 200, "seed": 7}
    more = {"tools": [SHORT_WEATHER, CLOCK], "tool_choice": choice, "temperature": temperature}
    answer = await answered(house, {**asked, **more})
    assert answer["finish_reason"] == "tool_calls"
    assert answer["message"]["content"] is None
    ((called, arguments),) = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in answer["message"]["tool_calls"]
    ]
    assert called in names
    assert arguments.keys() == ({"place"} if called == "weather" else set())


async def test_one_call_at_a_time_is_one_call(house: House) -> None:
    both = CALL + CALL.replace("Soria", "Ávila")
    assert len((await answered(house, body(both, tools=[WEATHER])))["message"]["tool_calls"]) == 2
    one = await answered(house, body(both, tools=[WEATHER], parallel_tool_calls=False))
    assert len(one["message"]["tool_calls"]) == 1


async def test_the_result_of_a_call_reaches_the_model(house: House) -> None:
    call = ToolCall("a1b2c3d4e", "weather", {"place": "Soria"})
    messages = [*ask(QUESTION), Message("assistant", "", (call,)), Message("tool", "Snow.", tool_call_id=call.id)]
    taken = [piece async for piece in house.client.chat(messages, house.sampling(4), options=OPTIONS)]
    plain = [piece async for piece in house.client.chat(ask(QUESTION), house.sampling(4))]
    assert isinstance(taken[-1], Finished)
    assert isinstance(plain[-1], Finished)
    assert taken[-1].usage.prompt_tokens > plain[-1].usage.prompt_tokens + 100


async def test_thoughts_reach_clients_apart_and_never_come_back(thinking_house: House) -> None:
    written = "<think>\nSoria is high up.\n</think>\n\nPerhaps."
    *found, _ = await pieces(thinking_house, written)
    assert "".join(piece.text for piece in found if isinstance(piece, Thought)) == "Soria is high up."
    assert "".join(piece.text for piece in found if isinstance(piece, Delta)) == "Perhaps."
    choice = await answered(thinking_house, body(written))
    assert choice["message"] == {
        "role": "assistant",
        "content": "Perhaps.",
        "reasoning_content": "Soria is high up.",
    }
    said = [{"role": "user", "content": QUESTION}, choice["message"], {"role": "user", "content": "Sure?"}]
    without = [{**message} for message in said]
    without[1].pop("reasoning_content")
    answers = [await post(thinking_house, {**body("Yes."), "messages": each}) for each in (said, without)]
    sizes = [answer.json()["usage"]["prompt_tokens"] for answer in answers]
    assert sizes[0] == sizes[1] > 0


async def test_a_thinking_model_s_call_comes_after_its_thoughts(thinking_house: House) -> None:
    *found, _ = await pieces(thinking_house, f"<think>I look.</think>\n\n{CALL}", OPTIONS)
    assert "".join(piece.text for piece in found if isinstance(piece, Thought)) == "I look."
    assert [type(piece) for piece in found][-1] is Called


async def test_a_control_token_that_opens_a_call_is_seen_where_tools_are_offered_and_nowhere_else(
    thinking_house: House,
) -> None:
    vocabulary = Vocabulary.load(thinking_house.home.models / "thinker.gguf")
    tag = vocabulary.control_token("<|python_tag|>")
    vocabulary.close()
    only_tags = {"messages": body("")["messages"], "logit_bias": {str(tag): 100}, "temperature": 0, "max_tokens": 2}
    with_tools = await answered(thinking_house, {**only_tags, "tools": [WEATHER]})
    assert with_tools["message"]["content"] == "<|python_tag|><|python_tag|>"
    assert (await answered(thinking_house, only_tags))["message"]["content"] == ""


async def test_a_model_that_does_not_think_says_its_tags_as_text(house: House) -> None:
    written = "<think>no</think> Yes."
    choice = await answered(house, body(written))
    assert choice["message"] == {"role": "assistant", "content": written}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"tools": {}}, "tools"),
        ({"tools": [WEATHER] * 2}, "tools[1].function.name"),
        ({"tools": [{"type": "function"}]}, "tools[0]"),
        ({"tools": [{"type": "function", "function": {"name": "no way"}}]}, "tools[0].function.name"),
        ({"tools": [WEATHER] * 200}, "tools"),
        ({"tools": [WEATHER], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": "must", "grammar": None}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": CLOCK, "grammar": None}, "tool_choice"),
        ({"tools": [ANYTHING], "tool_choice": "required", "grammar": None}, "tool_choice"),
        ({"tool_choice": "required", "grammar": None}, "tool_choice"),
        ({"enable_thinking": "yes"}, "enable_thinking"),
        ({"reasoning_effort": 9}, "reasoning_effort"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs"),
        (
            {"messages": [{"role": "user", "content": "a", "tool_calls": [{"function": {"name": "b"}}]}]},
            "messages[0].tool_calls",
        ),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0]"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "b", "arguments": "["}}]}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
        ({"messages": [{"role": "tool", "content": "a", "tool_call_id": 7}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "assistant", "content": None}]}, "messages[0].content"),
    ],
)
async def test_a_wrong_field_is_named(house: House, more: dict[str, Any], field: str) -> None:
    answer = await post(house, {**body("x"), **more})
    assert answer.status_code == 400
    assert answer.json()["error"]["facts"]["field"] == field
