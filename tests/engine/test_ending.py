"""An answer that has said enough is ended by whoever asked, and what it took is told all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.answers import Delta, Finished
from engine.ending import Ending
from engine.errors import RequestWrong
from tests.engine.asking import openai, post
from tests.engine.conftest import House, ask

LONG = 400
STORY = "Write a long story about the sea."


def after(characters: int) -> Callable[[str], int | None]:
    """Enough is said once there are so many characters."""
    return lambda said: characters if len(said) >= characters else None


async def test_an_answer_ends_where_it_has_said_enough_and_tells_what_it_took(house: House) -> None:
    pieces = [piece async for piece in house.client.chat(ask(STORY), house.sampling(LONG), until=after(25))]
    whole = [piece async for piece in house.client.chat(ask(STORY), house.sampling(20))]
    *deltas, finished = pieces
    said = "".join(piece.text for piece in deltas if isinstance(piece, Delta))
    assert said == "".join(piece.text for piece in whole if isinstance(piece, Delta))[:25]
    assert isinstance(finished, Finished)
    assert finished.reason == "stop"
    assert (finished.usage.snapshot, finished.usage.context_size) == ("v0", 1024)
    assert finished.usage.prompt_tokens > 0
    assert 0 < finished.usage.answer_tokens < LONG / 2


async def test_an_answer_that_never_says_enough_ends_as_it_would(house: House) -> None:
    asked = house.client.chat(ask("What is the capital of France?"), house.sampling(), until=lambda _: None)
    pieces = [piece async for piece in asked]
    said = "".join(piece.text for piece in pieces if isinstance(piece, Delta))
    assert said == "The capital of France is Paris."


async def test_a_cancelled_stream_ends_with_what_it_took(house: House) -> None:
    await house.client.start()
    body = {"messages": [message.openai() for message in ask(STORY)], "max_tokens": LONG, "stream": True}
    chunks: list[dict[str, Any]] = []
    async with openai(house) as client, client.stream("POST", "/v1/chat/completions", json=body) as stream:
        async for line in stream.aiter_lines():
            if not line.startswith("data: {"):
                continue
            chunks.append(json.loads(line.removeprefix("data: ")))
            if len(chunks) == 1:
                cancelled = await post(house, "/cancel", {"id": chunks[0]["id"]})
                assert cancelled.json() == {"cancelled": True}
    assert chunks[-1]["enlace"]["reason"] == "cancelled"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert 0 < chunks[-1]["usage"]["completion_tokens"] < LONG
    again = await post(house, "/cancel", {"id": chunks[0]["id"]})
    assert (again.status_code, again.json()) == (200, {"cancelled": False})


@pytest.mark.parametrize("name", [None, 7, ["x"]])
async def test_what_is_no_id_of_an_answer_is_refused(house: House, name: Any) -> None:
    refused = await post(house, "/cancel", {"id": name})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, RequestWrong.code)
    assert refused.json()["error"]["facts"]["field"] == "id"


def test_what_is_written_after_enough_was_said_does_not_belong_to_the_answer() -> None:
    ending = Ending(after(5))
    kept = [ending.kept(Delta(text)) for text in ("Hol", "a, soy", " yo")]
    assert kept == [Delta("Hol"), Delta("a,"), None]
