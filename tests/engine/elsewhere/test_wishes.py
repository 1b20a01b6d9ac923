"""Tools, thoughts, schemas, token worth, embeddings and token counts go through to the servers that offer them."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace

import pytest

from engine.answers import Called, Delta, Finished, Piece, Sampling, Thought
from engine.elsewhere.client import ServerClient
from engine.elsewhere.errors import ServerGarbled, ServerOffersNot
from engine.messages import Message, PromptOptions, ToolCall
from tests.engine.conftest import ask
from tests.engine.elsewhere.conftest import Guest
from tests.engine.elsewhere.doubles import Double, Reply, always, as_json, event, refusal
from tests.engine.elsewhere.test_failures import KINDS, client_of, every_kind

TOOLS = PromptOptions(
    tools=({"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}},),
    variables={"enable_thinking": False},
)
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}}


async def pieces_of(
    client: ServerClient, sampling: Sampling, options: PromptOptions = TOOLS, messages: list[Message] | None = None
) -> list[Piece]:
    said = client.chat(messages or ask("¿Qué hora es?"), sampling, options=options)
    return [piece async for piece in said if isinstance(piece, Delta | Thought | Called)]


def with_a_call(kind: str) -> Reply:
    """A model that thinks, calls a tool, and says something."""
    if kind == "ollama":
        call = {"function": {"name": "clock", "arguments": {"zone": "Madrid"}}}
        lines = [
            {"message": {"thinking": "Hmm."}, "done": False},
            {"message": {"content": "", "tool_calls": [call]}, "done": False},
            {"message": {"content": "Voy."}, "done": True, "done_reason": "stop"},
        ]
        return Reply(kind="application/x-ndjson", pieces=tuple(json.dumps(line).encode() + b"\n" for line in lines))
    deltas = [
        {"reasoning_content" if kind == "llama-server" else "reasoning": "Hmm."},
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "clock", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"zone": '}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"Madrid"}'}}]},
        {"content": "Voy."},
    ]
    events = [event({"choices": [{"delta": delta}]}) for delta in deltas]
    events += [event({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}), b"data: [DONE]\n\n"]
    return Reply(kind="text/event-stream", pieces=tuple(events))


@every_kind
async def test_thoughts_and_tool_calls_come_apart_from_the_answer(guest: Guest, kind: str) -> None:
    make, target = KINDS[kind]
    async with (double := make()).running():
        double.faults.append(always(with_a_call(kind), target))
        found = await pieces_of(client_of(guest, kind, double), guest.sampling())
        body = double.last(target).json
    assert Thought("Hmm.") in found
    assert Delta("Voy.") in found
    (called,) = [piece.call for piece in found if isinstance(piece, Called)]
    assert (called.name, called.arguments) == ("clock", {"zone": "Madrid"})
    assert body["tools"][0]["function"]["name"] == "clock"
    assert body["think"] is False if kind == "ollama" else body["chat_template_kwargs"] == {"enable_thinking": False}


@every_kind
async def test_a_tools_result_is_sent_in_the_servers_own_form(guest: Guest, kind: str) -> None:
    make, target = KINDS[kind]
    history = [
        Message("user", "¿Qué hora es?"),
        Message("assistant", "", (ToolCall("c1", "clock", {"zone": "Madrid"}),)),
        Message("tool", "18:02", tool_call_id="c1", name="clock"),
    ]
    async with (double := make()).running():
        await pieces_of(client_of(guest, kind, double), guest.sampling(), messages=history)
        sent = double.last(target).json["messages"]
    (call,) = sent[1]["tool_calls"]
    if kind == "ollama":
        assert (call["function"]["arguments"], sent[2]["tool_name"]) == ({"zone": "Madrid"}, "clock")
    else:
        assert (call["id"], json.loads(call["function"]["arguments"])) == ("c1", {"zone": "Madrid"})
        assert sent[2]["tool_call_id"] == "c1"


@every_kind
async def test_a_call_whose_arguments_are_no_object_is_a_garbled_answer(guest: Guest, kind: str) -> None:
    make, target = KINDS[kind]
    if kind == "ollama":
        line = {"message": {"tool_calls": [{"function": {"name": "clock", "arguments": "Madrid"}}]}, "done": True}
        reply = Reply(kind="application/x-ndjson", pieces=(json.dumps(line).encode() + b"\n",))
    else:
        call = {"tool_calls": [{"index": 0, "function": {"name": "clock", "arguments": "[1"}}]}
        events = (event({"choices": [{"delta": call, "finish_reason": "stop"}]}), b"data: [DONE]\n\n")
        reply = Reply(kind="text/event-stream", pieces=events)
    async with (double := make()).running():
        double.faults.append(always(reply, target))
        with pytest.raises(ServerGarbled):
            await pieces_of(client_of(guest, kind, double), guest.sampling())


@every_kind
async def test_a_schema_is_passed_on_and_what_cannot_be_honoured_is_refused(guest: Guest, kind: str) -> None:
    make, target = KINDS[kind]
    plain = guest.sampling()
    async with (double := make()).running():
        client = client_of(guest, kind, double)
        await pieces_of(client, replace(plain, json_schema=SCHEMA))
        body = double.last(target).json
        wanted = body["format"] if kind == "ollama" else body["response_format"]["json_schema"]["schema"]
        assert wanted == SCHEMA
        if kind == "llama-server":
            await pieces_of(client, replace(plain, grammar='root ::= "sí"', logit_bias={5: -100.0}))
            body = double.last(target).json
            assert (body["grammar"], body["logit_bias"]) == ('root ::= "sí"', [[5, -100.0]])
        else:
            with pytest.raises(ServerOffersNot):
                await pieces_of(client, replace(plain, grammar='root ::= "sí"'))
        if kind == "ollama":
            for wish in (replace(plain, logit_bias={5: 1.0}), replace(plain, logprobs=True)):
                with pytest.raises(ServerOffersNot):
                    await pieces_of(client, wish)


@pytest.mark.parametrize("kind", ["llama-server", "vllm"])
async def test_what_tokens_are_worth_comes_with_them(guest: Guest, kind: str) -> None:
    make, target = KINDS[kind]
    worth = {"content": [{"token": "Sí", "logprob": -0.25, "top_logprobs": [{"token": "Sí", "logprob": -0.25}]}]}
    choice = {"delta": {"content": "Sí"}, "logprobs": worth, "finish_reason": "stop"}
    reply = Reply(kind="text/event-stream", pieces=(event({"choices": [choice]}), b"data: [DONE]\n\n"))
    async with (double := make()).running():
        double.faults.append(always(reply, target))
        wish = replace(guest.sampling(), logprobs=True, top_logprobs=1)
        (delta,) = await pieces_of(client_of(guest, kind, double), wish)
        assert double.last(target).json["top_logprobs"] == 1
    assert isinstance(delta, Delta)
    assert (delta.text, delta.logprobs[0].logprob, delta.logprobs[0].top[0].text) == ("Sí", -0.25, "Sí")


@every_kind
async def test_texts_are_embedded_where_the_server_does_that(guest: Guest, kind: str) -> None:
    make, _ = KINDS[kind]
    target = "/api/embed" if kind == "ollama" else "/v1/embeddings"
    vectors = [[3.0, 4.0], [0.0, 2.0]]
    data = [{"index": number, "embedding": vectors[number]} for number in (1, 0)]
    async with (double := make()).running():
        client = client_of(guest, kind, double)
        double.faults.append(always(as_json({"embeddings": vectors} if kind == "ollama" else {"data": data}), target))
        found = await client.embed(["uno", "dos"])
        assert found == [[0.6, 0.8], [0.0, 1.0]]
        assert all(math.isclose(math.hypot(*vector), 1) for vector in found)
        double.faults.clear()
        double.faults.append(always(refusal(501, "This server does not support embeddings."), target))
        with pytest.raises(ServerOffersNot):
            await client.embed(["uno"])


@every_kind
async def test_no_other_snapshot_answers_beside_the_one_that_is_served(guest: Guest, kind: str) -> None:
    make, _ = KINDS[kind]
    async with (double := make()).running():
        client = client_of(guest, kind, double)
        with pytest.raises(ServerOffersNot):
            await anext(client.chat(ask("¿Qué?"), guest.sampling(), snapshot="0" * 64))


@every_kind
async def test_an_answer_that_has_said_enough_ends_and_the_line_is_closed(guest: Guest, kind: str) -> None:
    make, _ = KINDS[kind]
    double = make()
    double.says.hold = 0.05  # type: ignore[attr-defined]
    double.says.words = ("palabra ",) * 500  # type: ignore[attr-defined]
    async with double.running():
        asked = client_of(guest, kind, double).chat(
            ask("¿Qué?"), guest.sampling(500), until=lambda said: 10 if len(said) > 10 else None
        )
        *deltas, finished = [piece async for piece in asked]
        for _ in range(200):
            if double.cut_off:
                break
            await asyncio.sleep(0.01)
        assert double.cut_off == 1
    assert deltas == [Delta("palabra "), Delta("pa")]
    assert isinstance(finished, Finished)
    assert (finished.reason, finished.usage.prompt_tokens) == ("stop", 0)
    assert finished.usage.snapshot


@every_kind
async def test_tokens_are_counted_where_the_server_does_that_and_nothing_is_scored(guest: Guest, kind: str) -> None:
    make, _ = KINDS[kind]
    async with (double := make()).running():
        client = client_of(guest, kind, double)
        with pytest.raises(ServerOffersNot):
            await client.score(ask("¿Qué?"), "Nada.")
        double.faults.append(always(as_json({"tokens": [1, 2, 3]}), "/tokenize"))
        double.faults.append(always(as_json({"prompt": "<|im_start|>…"}), "/apply-template"))
        if kind == "ollama":
            with pytest.raises(ServerOffersNot):
                await client.tokenize("hola")
            return
        assert await client.tokenize("hola") == [1, 2, 3]
        assert await client.tokenize(ask("hola")) == [1, 2, 3]


def test_every_kind_of_server_in_the_settings_has_its_double() -> None:
    made: list[Double] = [make() for make, _ in KINDS.values()]
    assert len({type(double) for double in made}) == len(KINDS) == 3
