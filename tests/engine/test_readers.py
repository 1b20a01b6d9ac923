"""Slow work of others keeps no question from being read and answered."""

from __future__ import annotations

import asyncio
import os
import threading
import time

import httpx

from engine.crashes import Counts
from engine.metrics import Metrics
from engine.server import Service
from tests.engine.conftest import PATIENCE, Desk

MORE_THAN_THERE_ARE_THREADS = 2 * (32 + (os.cpu_count() or 1))


async def test_a_question_is_answered_while_every_thread_for_other_work_is_taken(desk: Desk) -> None:
    loop, over = asyncio.get_running_loop(), threading.Event()
    metrics = Metrics(desk.settings.metrics)
    service = Service(desk.home, desk.settings, desk.scheduler, time.monotonic, over.set, metrics, Counts(), "1")
    content = {"messages": [{"role": "user", "content": "What is the capital of France?"}], "max_tokens": 8}
    slow = [loop.run_in_executor(None, over.wait) for _ in range(MORE_THAN_THERE_ARE_THREADS)]
    transport = httpx.ASGITransport(service.application())
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
            asked = client.post("/v1/chat/completions", json=content)
            answer = await asyncio.wait_for(asked, PATIENCE / 4)
    finally:
        over.set()
        await asyncio.gather(*slow)
    assert answer.json()["usage"]["completion_tokens"] == 8
