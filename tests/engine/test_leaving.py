"""A client that goes away while it waits for another snapshot to be served, over the real server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from engine.starting import LOG
from tests.engine.asking import openai
from tests.engine.conftest import PATIENT, House, ask
from tests.engine.snapshots import write_manifest

HASTE_S = 0.5


@pytest.mark.parametrize(
    ("target", "more"),
    [("/snapshot", {}), ("/tokenize", {"content": "hello"}), ("/v1/embeddings", {"input": "hello"})],
)
async def test_no_model_is_loaded_for_whoever_has_gone(hasty: House, target: str, more: dict[str, Any]) -> None:
    (hasty.home.models / "other.gguf").write_bytes(hasty.starter.read_bytes())
    other = write_manifest(hasty.home, hasty.starter, name="v1", model="other")
    hasty.home.config_file.write_text(PATIENT)
    writing = hasty.client.chat(ask("Write a long story about the sea."), hasty.sampling(1000))
    await anext(writing)
    async with openai(hasty) as client:
        # Another model waits for the answer in flight.
        with pytest.raises(httpx.ReadTimeout):
            await client.post(target, json={"manifest": other, **more}, timeout=HASTE_S)
    await writing.aclose()
    async for _ in hasty.client.chat(ask("hello"), hasty.sampling(1)):
        pass
    status = await hasty.client.status()
    assert status is not None
    assert status.snapshot == "v0"
    assert '"swapped"' not in (hasty.home.logs / LOG).read_text()
