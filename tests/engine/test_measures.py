"""Scoring, embeddings and tokens, over the real server and client."""

from __future__ import annotations

import asyncio
import base64
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import ClientDisconnect

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.busy import BusyFlag
from engine.errors import EngineBusy, PromptTooLong, RequestWrong, TemplateBroken
from engine.leaving import unless_gone
from engine.loaded import Loaded
from engine.measuring import Measuring
from engine.messages import Message, ToolCall
from engine.native import Context
from engine.prompt import render, render_pair
from engine.scheduler import Scheduler
from engine.scoring import LocalModel
from engine.served import AdapterFile, read_served
from engine.template import NO_TOKENS, ChatTemplate
from engine.vocabulary import Vocabulary
from tests.engine.asking import post
from tests.engine.conftest import Desk, House, ask
from tests.engine.snapshots import write_adapter, write_manifest
from tests.engine.tiny_model import VOCABULARY, tiny_model

FRANCE = ask("What is the capital of France?")
HELLO = {"messages": [{"role": "user", "content": "hello"}]}
ANSWER = "The capital of France is Paris."


async def test_scoring_in_the_engine_is_scoring_in_a_worker(house: House, starter: Path) -> None:
    scored = await house.client.score(FRANCE, ANSWER, top=20)
    with LocalModel(starter, house.settings, context_size=256, threads=1) as model:
        prompt, answer = render_pair(model.template, model.vocabulary, FRANCE, ANSWER)
        rows = model.log_probs(prompt, answer)
    assert [token.token for token in scored] == answer
    assert "".join(token.text for token in scored) == f"{ANSWER}<|im_end|>"
    worth = [token.logprob for token in scored]
    assert worth == pytest.approx(rows[np.arange(len(answer)), answer].tolist(), abs=1e-4)
    for token, row in zip(scored, rows, strict=True):
        assert [other.token for other in token.top] == np.argsort(-row, kind="stable")[:20].tolist()


async def test_the_snapshot_that_a_request_names_is_the_one_that_scores(
    house: House, starter: Path, tmp_path: Path
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf")
    digest = write_manifest(house.home, starter, name="v1", adapter=adapter)
    asked = {**HELLO, "completion": ANSWER, "manifest": digest}
    scored = (await post(house, "/score", asked)).json()
    with LocalModel(starter, house.settings, context_size=256, threads=1) as model:
        pair = render_pair(model.template, model.vocabulary, [Message("user", "hello")], ANSWER)
        plain = model.log_probs(*pair)
        model.set_adapters([AdapterFile(adapter, 1.0)])
        adapted = model.log_probs(*pair)
    places = np.arange(len(pair[1])), pair[1]
    worth = [token["logprob"] for token in scored["content"]]
    assert worth == pytest.approx(adapted[places].tolist(), abs=1e-4)
    assert worth != pytest.approx(plain[places].tolist(), abs=1e-2)
    assert scored["enlace"] == {"snapshot": "v1"}
    assert scored["logprob"] == pytest.approx(sum(worth))


async def test_a_client_that_goes_away_is_not_waited_for(desk: Desk) -> None:
    gone = asyncio.Event()

    async def receive() -> dict[str, str]:
        await gone.wait()
        return {"type": "http.disconnect"}

    settings = desk.settings.model_copy(update={"slots": 1, "queue_length": 0})
    measuring = Measuring(desk.home, desk.scheduler, settings)
    given = {**HELLO, "completion": "The sea is wide and deep. " * 100}
    scoring = asyncio.ensure_future(unless_gone(measuring.score(given), receive))
    await asyncio.sleep(0.1)
    assert not scoring.done()
    with pytest.raises(EngineBusy):
        await unless_gone(measuring.score(given), receive)
    gone.set()
    with pytest.raises(ClientDisconnect):
        await scoring


async def test_an_answer_is_worth_more_than_nonsense(house: House) -> None:
    good, bad = [await house.client.score(FRANCE, text) for text in (ANSWER, "Banana forty trains.")]
    assert sum(token.logprob for token in good) / len(good) > sum(token.logprob for token in bad) / len(bad)


async def test_embeddings_of_paraphrases_are_nearer_than_those_of_other_things(house: House) -> None:
    texts = [
        "The cat sleeps on the sofa.",
        "A cat is sleeping on the couch.",
        "How do I boil an egg?",
        "What is the way to cook an egg in hot water?",
        "Interest rates rose again this quarter.",
    ]
    vectors = np.array(await house.client.embed(texts))
    near = vectors @ vectors.T
    assert np.diag(near) == pytest.approx(1, abs=1e-5)
    np.fill_diagonal(near, -1)
    assert near.argmax(axis=1)[:4].tolist() == [1, 0, 3, 2]
    alone = np.array(await house.client.embed(texts[2:3]))
    assert alone[0] @ vectors[2] == pytest.approx(1, abs=1e-4)


async def test_openai_clients_get_embeddings_in_every_form(house: House, vocabulary: Vocabulary) -> None:
    ids = vocabulary.tokenize("una casa", special=False)
    forms = ["una casa", ["una casa"], ids, [ids]]
    answers = [(await post(house, "/v1/embeddings", {"input": form})).json() for form in forms]
    vectors = [answer["data"][0]["embedding"] for answer in answers]
    assert all(vector == vectors[0] for vector in vectors)
    assert answers[0]["usage"] == {"prompt_tokens": len(ids), "total_tokens": len(ids)}
    packed = (await post(house, "/v1/embeddings", {"input": ids, "encoding_format": "base64"})).json()
    unpacked = np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), dtype="<f4")
    assert unpacked.tolist() == pytest.approx(vectors[0], abs=1e-7)


async def test_tokens_are_those_of_the_prompt_function(
    house: House, vocabulary: Vocabulary, template: ChatTemplate
) -> None:
    assert await house.client.tokenize(FRANCE) == render(template, vocabulary, FRANCE)
    text = "¿Qué tal, Íñigo? <|im_end|>"
    assert await house.client.tokenize(text) == vocabulary.tokenize(text, special=False)
    answer = (await post(house, "/tokenize", {"content": "hola"})).json()
    assert (answer["count"], answer["context_size"]) == (len(answer["tokens"]), 1024)


async def test_a_conversation_with_a_tools_call_is_scored_and_cut_into_tokens_as_any_other(
    house: House, vocabulary: Vocabulary, template: ChatTemplate
) -> None:
    called = Message("assistant", "", tool_calls=(ToolCall("c1", "now", {"what": "time"}),))
    told = [*ask("What time is it?"), called, Message("tool", "18:02", tool_call_id="c1", name="now")]
    assert await house.client.tokenize(told) == render(template, vocabulary, told)
    scored = await house.client.score(told, "It is 18:02.")
    assert "".join(token.text for token in scored) == "It is 18:02.<|im_end|>"


async def test_a_text_of_which_a_model_makes_no_tokens_has_no_place_and_no_worth(
    engine_settings: EngineSettings, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    # The words of a model made for embeddings, which passes over blanks, and a template that passes over questions.
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"▁{number}" for number in range(VOCABULARY - 5))]
    meta = {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": None,
        "tokenizer.ggml.merges": None,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.token_type": [3] * 5 + [1] * (VOCABULARY - 5),
        "tokenizer.chat_template": "{% for m in messages if m.role == 'assistant' %}{{ m.content }}[CLS]{% endfor %}",
    }
    model = tiny_model(home.models / "tiny.gguf", meta=meta, tokens=words)
    loaded = Loaded(read_served(home, write_manifest(home, model, model="tiny")), engine_settings)
    scheduler = Scheduler(loaded, engine_settings, BusyFlag(home.busy_flag), time.monotonic)
    scheduler.start()

    measuring = Measuring(home, scheduler, engine_settings)
    try:
        assert (await measuring.embeddings({"input": ["1 2"]}))["usage"]["total_tokens"] == 2
        with pytest.raises(RequestWrong) as caught:
            await measuring.embeddings({"input": ["1 2", " "]})
        assert caught.value.facts["field"] == "input[1]"
        with pytest.raises(TemplateBroken, match=NO_TOKENS):
            await measuring.score({**HELLO, "completion": "1 2"})
    finally:
        scheduler.end()


async def test_a_text_whose_states_add_up_to_nothing_has_an_embedding_of_numbers(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = Context.states
    monkeypatch.setattr(Context, "states", lambda context, row: states(context, row) * 0)

    answer = await Measuring(desk.home, desk.scheduler, desk.settings).embeddings({"input": "hola"})
    assert set(answer["data"][0]["embedding"]) == {0.0}


async def test_answers_are_written_while_a_text_is_scored(house: House) -> None:
    long = "The sea is wide and deep. " * 100
    scoring = asyncio.ensure_future(house.client.score(FRANCE, long))
    text = ""
    async for piece in house.client.chat(FRANCE, house.sampling(12)):
        text += getattr(piece, "text", "")
    assert text == ANSWER
    assert not scoring.done()
    assert len(await scoring) > 600


@pytest.mark.parametrize(
    ("target", "content", "field"),
    [
        ("/score", {"completion": "a"}, "messages"),
        ("/score", HELLO, "completion"),
        ("/score", {**HELLO, "completion": ""}, "completion"),
        (
            "/score",
            {"messages": [{"role": "user", "content": "a"}], "completion": "a", "top_logprobs": 21},
            "top_logprobs",
        ),
        ("/v1/embeddings", {}, "input"),
        ("/v1/embeddings", {"input": []}, "input"),
        ("/v1/embeddings", {"input": ""}, "input[0]"),
        ("/v1/embeddings", {"input": ["a", 7]}, "input[1]"),
        ("/v1/embeddings", {"input": [[3, -1]]}, "input[0]"),
        ("/v1/embeddings", {"input": [[999_999]]}, "input[0]"),
        ("/v1/embeddings", {"input": [[5] * 1000] * 17}, "input"),
        ("/v1/embeddings", {"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ("/v1/embeddings", {"input": "a", "dimensions": 7}, "dimensions"),
        ("/tokenize", {}, "content"),
        ("/tokenize", {"content": 7}, "content"),
        ("/tokenize", {"content": "a", "messages": []}, "content"),
        ("/tokenize", {"messages": []}, "messages"),
    ],
)
async def test_a_wrong_value_is_refused_by_its_field(
    house: House, target: str, content: dict[str, Any], field: str
) -> None:
    answered = await post(house, target, content)
    assert answered.status_code == 400
    error = answered.json()["error"]
    assert (error["code"], error["facts"]["field"]) == (RequestWrong.code, field)


async def test_a_text_longer_than_the_context_names_both_sizes(house: House) -> None:
    with pytest.raises(PromptTooLong) as caught:
        await house.client.score(FRANCE, "hola " * 3000)
    assert caught.value.facts["context_size"] == 1024
    with pytest.raises(PromptTooLong):
        await house.client.embed(["hola " * 3000])


@pytest.mark.parametrize(
    ("target", "more"), [("/v1/chat/completions", {}), ("/score", {"completion": "a"}), ("/tokenize", {})]
)
async def test_more_messages_than_the_context_has_tokens_are_refused_unread(
    house: House, target: str, more: dict[str, str]
) -> None:
    many = HELLO["messages"] * 1024
    refused = await post(house, target, {"messages": many, **more})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, PromptTooLong.code)
    # As many messages as that, and not the several tokens of each.
    assert refused.json()["error"]["facts"] == {"prompt_tokens": 1024, "context_size": 1024}
