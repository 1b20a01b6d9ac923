"""What is asked and cannot be given is the asker's mistake and told by its name; nothing is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import AdapterMismatch, SnapshotBroken
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
