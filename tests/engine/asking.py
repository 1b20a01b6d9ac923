"""Asking the engine process of the tests: by its client, and in plain HTTP as programs that are not ours do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx

from engine.answers import Delta, Finished, TokenLogprob
from tests.engine.conftest import PATIENCE, House, ask


def openai(house: House) -> httpx.AsyncClient:
    """Any OpenAI client, on the engine's socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(house.home.engine_socket))
    return httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=PATIENCE)


async def post(house: House, target: str, content: Any) -> httpx.Response:
    """The answer to ``content`` as JSON."""
    await house.client.start()
    async with openai(house) as client:
        return await client.post(target, json=content)


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
    """The text of that answer."""
    return (await written(house, text, **changes))[0]
