"""The engine process over its real socket: OpenAI's form, streams, errors, and clients that go away."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.answers import Delta, Finished, Waiting
from engine.errors import AdapterMismatch, PromptTooLong, RequestWrong, SnapshotBroken
from engine.messages import Message
from tests.engine.conftest import PATIENCE, House, ask
from tests.engine.snapshots import store, write_adapter, write_manifest

FRANCE = "What is the capital of France?"
STORY = "Write a long story about the sea."


async def answer(house: House, messages: list[Message], max_tokens: int = 12) -> tuple[str, Finished]:
    """The whole answer through the client."""
    text = ""
    async for piece in house.client.chat(messages, house.sampling(max_tokens)):
        if isinstance(piece, Finished):
            return text, piece
        assert isinstance(piece, Delta)
        text += piece.text
    raise AssertionError("no end")


def openai(house: House) -> httpx.AsyncClient:
    """Any OpenAI client, on the engine's socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(house.home.engine_socket))
    return httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=PATIENCE)


def body(**more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": FRANCE}]
    return {"messages": messages, "max_tokens": 12, "temperature": 0, "repeat_penalty": 1.0, **more}


async def test_the_client_starts_the_engine_and_streams_the_answer(house: House) -> None:
    text, finished = await answer(house, ask(FRANCE))
    assert text == "The capital of France is Paris."
    assert finished.reason == "stop"
    assert (finished.usage.snapshot, finished.usage.context_size) == ("v0", 1024)
    assert finished.usage.ttft_ms > 0
    status = await house.client.status()
    assert status is not None
    assert (status.model, status.manifest, status.slots) == ("smollm2-135m", house.digest, 2)
    assert status.memory_bytes > 50_000_000


async def test_only_the_owner_may_use_the_socket(house: House) -> None:
    await house.client.start()
    assert stat.S_IMODE(house.home.engine_socket.stat().st_mode) == 0o600


async def test_an_openai_client_gets_openai_answers(house: House) -> None:
    await house.client.start()
    async with openai(house) as client:
        whole = (await client.post("/v1/chat/completions", json=body())).json()
        streamed = await client.post("/v1/chat/completions", json=body(stream=True))
        models = (await client.get("/v1/models")).json()
    assert whole["choices"][0]["message"] == {"role": "assistant", "content": "The capital of France is Paris."}
    assert whole["choices"][0]["finish_reason"] == "stop"
    assert whole["usage"]["total_tokens"] == whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"]
    lines = [line.removeprefix("data: ") for line in streamed.text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == (
        "The capital of France is Paris."
    )
    assert chunks[-1]["enlace"]["snapshot"] == "v0"
    assert [model["id"] for model in models["data"]] == ["smollm2-135m"]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"{", "body"),
        (b"[]", "body"),
        (b"[" * 5000, "body"),
        (json.dumps({}).encode(), "messages"),
        (json.dumps({"messages": []}).encode(), "messages"),
        (json.dumps({"messages": ["x"]}).encode(), "messages[0]"),
        (json.dumps({"messages": [{"role": "boss", "content": "x"}]}).encode(), "messages[0].role"),
        (json.dumps({"messages": [{"role": "user", "content": 7}]}).encode(), "messages[0].content"),
        (json.dumps(body(temperature="hot")).encode(), "temperature"),
        (json.dumps(body(temperature=-1)).encode(), "temperature"),
        (json.dumps(body(temperature=True)).encode(), "temperature"),
        (json.dumps(body(top_p=float("nan"))).encode(), "top_p"),
        (json.dumps(body(max_tokens=0)).encode(), "max_tokens"),
        (json.dumps(body(seed=1.5)).encode(), "seed"),
        (json.dumps(body(stop=[""])).encode(), "stop"),
        (json.dumps(body(stream="yes")).encode(), "stream"),
    ],
)
async def test_a_wrong_request_is_told_which_field_is_wrong(house: House, content: bytes, field: str) -> None:
    await house.client.start()
    async with openai(house) as client:
        answered = await client.post("/v1/chat/completions", content=content)
    assert answered.status_code == 400
    assert answered.json()["error"]["code"] == RequestWrong.code
    assert answered.json()["error"]["facts"]["field"] == field


async def test_a_request_without_end_is_refused_before_it_fills_the_memory(house: House) -> None:
    await house.client.start()
    async with openai(house) as client:
        answered = await client.post("/v1/chat/completions", content=b" " * (house.settings.longest_request_bytes + 1))
    assert answered.json()["error"]["facts"]["field"] == "body"


@pytest.mark.parametrize(
    ("target", "content", "code"),
    [
        ("/v1/chat/completions", rb'{"messages": [{"role": "user", "content": "a \ud83d b"}], "max_tokens": 2}', 200),
        ("/v1/chat/completions", rb'{"messages": [{"role": "user", "content": "a"}], "manifest": "\ud83d"}', 400),
        ("/snapshot", rb'{"manifest": "\ud83d"}', 400),
    ],
)
async def test_half_a_surrogate_pair_is_answered_in_order(house: House, target: str, content: bytes, code: int) -> None:
    await house.client.start()
    async with openai(house) as client:
        answered = await client.post(target, content=content)
    assert answered.status_code == code
    assert answered.json()["choices" if code == 200 else "error"]


async def test_a_model_whose_file_has_a_name_that_is_no_text_is_listed_with_the_others(house: House) -> None:
    await house.client.start()
    odd = house.home.models / os.fsdecode(b"caf\xe9.gguf")
    odd.touch()
    try:
        async with openai(house) as client:
            models = (await client.get("/v1/models")).json()
    finally:
        odd.unlink()
    assert [model["id"] for model in models["data"]] == ["smollm2-135m", "caf?"]


async def test_a_prompt_longer_than_the_context_reaches_the_client_with_both_sizes(house: House) -> None:
    with pytest.raises(PromptTooLong) as caught:
        await answer(house, ask("hola " * 40_000))
    assert caught.value.facts["context_size"] == 1024


async def test_closing_a_stream_frees_its_slot(house: House) -> None:
    stream = house.client.chat(ask(STORY), house.sampling(900))
    assert isinstance(await anext(stream), Delta)
    await stream.aclose()
    await until_idle(house)


async def test_going_away_while_the_prompt_is_read_frees_the_slot(house: House) -> None:
    stream = house.client.chat(ask("Tell me about the sea. " * 150), house.sampling(900))
    asking = asyncio.ensure_future(anext(stream))
    async with asyncio.timeout(PATIENCE):
        while (status := await house.client.status()) is None or not status.busy:
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await stream.aclose()
    await until_idle(house)


async def test_going_away_from_an_answer_that_is_not_streamed_frees_its_slot(house: House) -> None:
    await house.client.start()
    async with openai(house) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(
                "/v1/chat/completions",
                json=body(max_tokens=900, messages=[{"role": "user", "content": STORY}]),
                timeout=0.5,
            )
    await until_idle(house)


async def test_two_at_once_get_their_own_answers(house: House) -> None:
    one, two = await asyncio.gather(answer(house, ask(FRANCE)), answer(house, ask("Say hello."), 8))
    assert one[0] == "The capital of France is Paris."
    assert two[0] != one[0]


async def test_another_snapshot_is_served_without_a_restart_and_the_old_one_after_it_word_for_word(
    house: House, tmp_path: Path
) -> None:
    before, _ = await answer(house, ask(STORY), 16)
    status = await house.client.status()
    assert status is not None
    adapter = write_adapter(tmp_path / "a.gguf")
    await house.client.load(write_manifest(house.home, house.starter, name="v1", adapter=adapter))
    served = await house.client.status()
    assert served is not None
    assert (served.snapshot, served.pid) == ("v1", status.pid)
    # The house's snapshot is still v0, so the next answer brings it back by itself.
    after, finished = await answer(house, ask(STORY), 16)
    assert (after, finished.usage.snapshot) == (before, "v0")


async def test_a_snapshot_that_cannot_be_served_is_refused_and_the_old_one_stays(house: House, tmp_path: Path) -> None:
    await house.client.start()
    useless = write_manifest(
        house.home, house.starter, name="v2", adapter=write_adapter(tmp_path / "a.gguf", strength=0)
    )
    with pytest.raises(AdapterMismatch):
        await house.client.load(useless)
    with pytest.raises(SnapshotBroken):
        await house.client.load("0" * 64)
    with pytest.raises(SnapshotBroken):
        await house.client.load("../../etc/passwd")
    status = await house.client.status()
    assert status is not None
    assert status.snapshot == "v0"


async def test_the_log_holds_nobody_s_words(house: House) -> None:
    word = "zanzibar-pelican"
    await answer(house, ask(f"Repeat: {word}"))
    with pytest.raises(PromptTooLong):
        await answer(house, ask(word * 9000))
    for log in house.home.logs.iterdir():
        assert word not in log.read_text()


async def until_idle(house: House) -> None:
    """Wait until no slot works; an answer of 900 tokens would take longer than this waits."""
    async with asyncio.timeout(20):
        while (status := await house.client.status()) is None or status.busy or status.waiting:
            await asyncio.sleep(0.02)


async def test_a_request_is_answered_with_the_adapters_that_it_names(house: House, tmp_path: Path) -> None:
    digest = store(house.home, write_adapter(tmp_path / "a.gguf").read_bytes())
    await house.client.start()
    async with openai(house) as client:
        texts = {}
        for name, adapters in (("own", None), ("base", []), ("bent", [{"sha256": digest}])):
            answered = await client.post("/v1/chat/completions", json=body(adapters=adapters, max_tokens=24))
            assert answered.status_code == 200, answered.text
            texts[name] = answered.json()["choices"][0]["message"]["content"]
            used = answered.json()["enlace"]["snapshot"]
            assert used == {"own": "v0", "base": "v0:base", "bent": f"v0:{digest[:8]}x1"}[name]
    assert texts["own"] == texts["base"] != texts["bent"]


@pytest.mark.parametrize(
    ("adapters", "code"),
    [
        ("all", "request_wrong"),
        ([{"sha256": "no"}], "request_wrong"),
        ([{"sha256": "0" * 64, "scale": "much"}], "request_wrong"),
        ([{"sha256": "0" * 64}, {"sha256": "0" * 64, "scale": 0.5}], "request_wrong"),
        ([{"sha256": "0" * 64}], "snapshot_broken"),
    ],
)
async def test_adapters_that_are_not_there_are_refused_by_name(house: House, adapters: Any, code: str) -> None:
    await house.client.start()
    async with openai(house) as client:
        answered = await client.post("/v1/chat/completions", json=body(adapters=adapters))
    assert (answered.status_code, answered.json()["error"]["code"]) == (400, code)


async def test_a_question_that_waits_for_a_slot_is_told_its_place_in_line(house: House) -> None:
    async def ask_for(tokens: int, key: str) -> list[int]:
        pieces = house.client.chat(ask(STORY + key), house.sampling(tokens), cache_key=key)
        return [piece.place async for piece in pieces if isinstance(piece, Waiting)]

    await house.client.start()
    told = await asyncio.gather(*(ask_for(40, f"{name}/talk") for name in "abcd"))
    assert sorted(places[0] for places in told if places) == [1, 2]
