"""A client takes no silence for an engine that works, and no long work for silence; one that nobody can ask ends."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal

import psutil
import pytest

from engine.client import EngineClient
from engine.errors import EngineNotEnded, EngineSilent, EngineUntraced
from engine.starting import is_locked
from engine.state_file import STATE_FILE
from tests.engine.conftest import PATIENCE, PATIENT, House, ask
from tests.engine.test_server import FRANCE, STORY, answer, openai

PARIS = "The capital of France is Paris."


@pytest.fixture(autouse=True)
def _patient(hasty: House) -> None:
    """None of these engines hangs, however busy the machine is."""
    hasty.home.config_file.write_text(PATIENT)


async def told(house: House, sign_of_life_s: float, **more: object) -> list[str]:
    """The lines of a streamed answer by an engine that gives signs of life so often."""
    house.home.config_file.write_text(PATIENT.replace("}", f", sign_of_life_s: {sign_of_life_s}}}"))
    await house.client.start()
    asked = {"stream": True, "temperature": 0, **more}
    async with openai(house) as client, client.stream("POST", "/v1/chat/completions", json=asked) as answered:
        return [line async for line in answered.aiter_lines() if line]


def signs(lines: list[str]) -> int:
    return sum(line.startswith(":") for line in lines)


async def test_a_long_prompt_gives_signs_of_life_before_its_first_word(hasty: House) -> None:
    long = f"{'The sea was calm that day, and the boats came home. ' * 75}{FRANCE}"
    lines = await told(hasty, 0.02, messages=[{"role": "user", "content": long}], max_tokens=4)
    first = next(place for place, line in enumerate(lines) if not line.startswith(":"))
    assert first > 5


async def test_a_call_that_is_long_in_the_writing_gives_signs_of_life(hasty: House) -> None:
    letter = {"type": "string", "minLength": 700, "maxLength": 700}
    parameters = {"type": "object", "properties": {"text": letter}, "required": ["text"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "send", "parameters": parameters}}
    asked = {"messages": [{"role": "user", "content": FRANCE}], "max_tokens": 800}
    lines = await told(hasty, 0.05, **asked, tools=[tool], tool_choice="required")
    assert "tool_calls" in [line for line in lines if not line.startswith(":")][-3]
    # While the question was read, and much longer while a call was written of which nothing can be told before its end.
    assert signs(lines) > 10


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


async def test_one_that_cannot_be_ended_is_told_with_the_systems_reason(
    hasty: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = await hasty.client.start()
    client = EngineClient(hasty.home, hasty.settings.model_copy(update={"status_timeout_s": 0.5}), lambda: hasty.digest)
    os.kill(status.pid, signal.SIGSTOP)

    def refused(pid: int, number: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patched:
        patched.setattr(os, "kill", refused)
        with pytest.raises(EngineNotEnded) as told:
            await client.stop()
    assert told.value.facts == {"pid": status.pid, "reason": "Operation not permitted"}
    assert await client.stop()


async def test_one_that_nothing_tells_from_others_is_told_by_the_file_that_it_holds(hasty: House) -> None:
    status = await hasty.client.start()
    client = EngineClient(hasty.home, hasty.settings.model_copy(update={"status_timeout_s": 0.5}), lambda: hasty.digest)
    state = (hasty.home.logs / STATE_FILE).read_bytes()
    os.kill(status.pid, signal.SIGSTOP)
    (hasty.home.logs / STATE_FILE).write_bytes(b"")
    with pytest.raises(EngineUntraced) as told:
        await client.stop()
    assert told.value.facts == {"lock": str(hasty.home.engine_lock)}
    assert is_locked(hasty.home)
    (hasty.home.logs / STATE_FILE).write_bytes(state)
    assert await client.stop()


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


async def test_silence_in_the_middle_of_an_answer_is_told_as_silence(hasty: House) -> None:
    status = await hasty.client.start()
    settings = hasty.settings.model_copy(update={"silence_timeout_s": 0.5, "status_timeout_s": 0.5})
    client = EngineClient(hasty.home, settings, lambda: hasty.digest)
    answering = client.chat(ask(STORY), hasty.sampling(1000))
    await anext(answering)
    os.kill(status.pid, signal.SIGSTOP)
    with pytest.raises(EngineSilent):
        async for _ in answering:
            pass
    assert await client.stop()


async def test_one_whose_home_was_made_anew_leaves_the_socket_to_the_next(hasty: House) -> None:
    status = await hasty.client.start()
    old = psutil.Process(status.pid)
    answering = hasty.client.chat(ask(STORY), hasty.sampling(1000))
    await anext(answering)
    kept = hasty.home.root.with_name("kept")
    hasty.home.root.rename(kept)
    shutil.copytree(kept, hasty.home.root, ignore=lambda _, names: [name for name in names if "engine." in name])
    second = await hasty.client.start()
    assert second.pid != status.pid
    await answering.aclose()
    async with asyncio.timeout(PATIENCE):
        while old.is_running() and old.status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.05)
    assert (await hasty.client.start()).pid == second.pid
