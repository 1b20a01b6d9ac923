"""Plain HTTP to the engine process of the tests, as programs that are not ours speak it."""

from __future__ import annotations

from typing import Any

import httpx

from tests.engine.conftest import PATIENCE, House


def openai(house: House) -> httpx.AsyncClient:
    """Any OpenAI client, on the engine's socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(house.home.engine_socket))
    return httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=PATIENCE)


async def post(house: House, target: str, content: Any) -> httpx.Response:
    """The answer to ``content`` as JSON."""
    await house.client.start()
    async with openai(house) as client:
        return await client.post(target, json=content)
