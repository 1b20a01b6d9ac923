"""A client takes no silence for an engine that works, and no long work for silence; one that nobody can ask ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import psutil
import pytest

from engine.answers import Finished
from engine.client import EngineClient
from engine.errors import EngineSilent
from engine.starting import is_locked
from tests.engine.conftest import HASTY, PATIENCE, House, ask
from tests.engine.test_server import FRANCE, answer, openai

PARIS = "The capital of France is Paris."
# Nothing hangs here by itself: on a busy machine a step may take longer than a broken engine is given elsewhere.
PATIENT = HASTY.replace("hang_timeout_s: 1.5", "hang_timeout_s: 60")


async def test_a_long_prompt_is_waited_for_by_a_client_of_less_patience(hasty: House) -> None:
    hasty.home.config_file.write_text(PATIENT.replace("}", ", sign_of_life_s: 0.1}"))
    await hasty.client.start()
    settings = hasty.settings.model_copy(update={"silence_timeout_s": 1.0})
    client = EngineClient(hasty.home, settings, lambda: hasty.digest)
    long = ask(f"{'The sea was calm that day, and the boats came home. ' * 75}{FRANCE}")
    pieces = [piece async for piece in client.chat(long, hasty.sampling())]
    assert isinstance(pieces[-1], Finished)
    assert pieces[-1].usage.ttft_ms > 1000


async def test_a_call_that_is_long_in_the_writing_gives_signs_of_life(hasty: House) -> None:
    hasty.home.config_file.write_text(PATIENT.replace("}", ", sign_of_life_s: 0.05}"))
    await hasty.client.start()
    letter = {"type": "string", "minLength": 700, "maxLength": 700}
    parameters = {"type": "object", "properties": {"text": letter}, "required": ["text"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "send", "parameters": parameters}}
    asked = {"messages": [{"role": "user", "content": FRANCE}], "stream": True, "temperature": 0, "max_tokens": 800}
    async with openai(hasty) as client:
        content = {**asked, "tools": [tool], "tool_choice": "required"}
        async with client.stream("POST", "/v1/chat/completions", json=content) as answered:
            lines = [line async for line in answered.aiter_lines() if line]
    assert [line.startswith(":") for line in lines[-3:]] == [False] * 3
    assert "tool_calls" in lines[-3]
    # While the question was read, and much longer while a call was written of which nothing can be told before its end.
    assert sum(line.startswith(":") for line in lines) > 10


async def test_an_engine_that_does_not_answer_is_told_as_such_and_ended_by_force(hasty: House) -> None:
    status = await hasty.client.start()
    settings = hasty.settings.model_copy(update={"silence_timeout_s": 0.5, "status_timeout_s": 0.5})
    client = EngineClient(hasty.home, settings, lambda: hasty.digest)
    os.kill(status.pid, signal.SIGSTOP)
    with pytest.raises(EngineSilent) as silent:
        await client.status()
    assert silent.value.facts == {"pid": status.pid}
    with pytest.raises(EngineSilent):
        async for _ in client.chat(ask(FRANCE), hasty.sampling()):
            pass
    assert await client.stop()
    assert not is_locked(hasty.home)
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS


async def test_an_engine_whose_socket_is_removed_makes_room_for_one_that_can_be_asked(hasty: House) -> None:
    status = await hasty.client.start()
    hasty.home.engine_socket.unlink()
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS
    assert (await hasty.client.start()).pid != status.pid


async def test_an_engine_whose_home_is_removed_ends(hasty: House) -> None:
    status = await hasty.client.start()
    process = psutil.Process(status.pid)
    shutil.rmtree(hasty.home.root)
    async with asyncio.timeout(PATIENCE):
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.05)
    assert not hasty.home.root.exists()
