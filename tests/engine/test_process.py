"""One engine a home, whatever kills it, and a clear sentence where it cannot start."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished
from engine.client import EngineClient
from engine.errors import (
    EngineDied,
    EngineError,
    ModelBroken,
    ModelMissing,
    ModelTooBig,
)
from engine.process import reporter
from engine.starting import is_locked
from tests.engine.conftest import PATIENCE, House, ask
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import answer

FRANCE = "What is the capital of France?"
STORY = "Write a long story about the sea."
# The metadata entry as it lies in a file: key, type string, length, value.
LLAMA = b"general.architecture\x08\0\0\0\5\0\0\0\0\0\0\0llama"


async def test_an_engine_killed_between_answers_is_started_again(own: House) -> None:
    first = await own.client.start()
    for _ in range(2):
        os.kill(first.pid, signal.SIGKILL)
        text, _ = await answer(own, ask(FRANCE))
        assert text == "The capital of France is Paris."
        second = await own.client.start()
        assert second.pid != first.pid
        first = second


async def test_an_engine_killed_in_mid_answer_is_told_and_the_next_question_is_answered(own: House) -> None:
    stream = own.client.chat(ask(STORY), own.sampling(900))
    await anext(stream)
    status = await own.client.status()
    assert status is not None
    os.kill(status.pid, signal.SIGKILL)
    with pytest.raises(EngineDied):
        async for _ in stream:
            pass
    assert (await answer(own, ask(FRANCE)))[0] == "The capital of France is Paris."


async def test_an_engine_killed_while_the_prompt_is_read_is_started_again_and_answers(own: House) -> None:
    await own.client.start()
    asking = asyncio.ensure_future(answer(own, ask("Tell me about the sea. " * 50), 2))
    async with asyncio.timeout(PATIENCE):
        while (status := await own.client.status()) is None or not status.busy:
            await asyncio.sleep(0.01)
    os.kill(status.pid, signal.SIGKILL)
    _, finished = await asking
    assert isinstance(finished, Finished)


async def test_the_engine_outlives_its_starter_and_a_closed_terminal_and_ends_when_told(own: House) -> None:
    code = (
        "import asyncio, os, sys\n"
        "from configs.home import Home\nfrom configs.settings import load_settings\n"
        "from engine.client import EngineClient\n"
        "home = Home.find(os.environ)\n"
        "client = EngineClient(home, load_settings(home, os.environ).engine, lambda: sys.argv[1])\n"
        "print(asyncio.run(client.start()).pid)\n"
    )
    starter = subprocess.run(
        [sys.executable, "-c", code, own.digest], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    pid = int(starter.stdout)
    os.kill(pid, signal.SIGHUP)
    status = await own.client.status()
    assert status is not None
    assert status.pid == pid
    assert os.getsid(pid) == pid
    assert await own.client.stop() is True
    assert await own.client.stop() is False
    assert not own.home.engine_socket.exists()


async def test_sigterm_ends_it_cleanly_while_an_answer_is_written(own: House) -> None:
    impatient = EngineClient(own.home, own.settings, lambda: own.digest)
    stream = impatient.chat(ask(STORY), own.sampling(900))
    await anext(stream)
    status = await own.client.status()
    assert status is not None
    os.kill(status.pid, signal.SIGTERM)
    with pytest.raises(EngineError):
        async for _ in stream:
            pass
    async with asyncio.timeout(PATIENCE):
        while is_locked(own.home):
            await asyncio.sleep(0.02)
    assert not own.home.engine_socket.exists()


async def test_a_question_that_comes_while_the_engine_ends_is_answered_by_the_next_one(own: House) -> None:
    stream = own.client.chat(ask(STORY), own.sampling(900))
    await anext(stream)
    ending = await own.client.status()
    assert ending is not None
    os.kill(ending.pid, signal.SIGTERM)
    await asyncio.sleep(0.2)
    assert (await answer(own, ask(FRANCE)))[0] == "The capital of France is Paris."
    status = await own.client.status()
    assert status is not None
    assert status.pid != ending.pid
    await stream.aclose()


@pytest.mark.parametrize("call", ["score", "embed", "tokenize"])
async def test_what_is_asked_of_a_text_while_the_engine_ends_is_answered_by_the_next_one(own: House, call: str) -> None:
    stream = own.client.chat(ask(STORY), own.sampling(900))
    await anext(stream)
    ending = await own.client.status()
    assert ending is not None
    os.kill(ending.pid, signal.SIGTERM)
    await asyncio.sleep(0.2)
    asked = {"score": (ask(FRANCE), "Paris."), "embed": (["una casa"],), "tokenize": ("una casa",)}
    assert await getattr(own.client, call)(*asked[call])
    status = await own.client.status()
    assert status is not None
    assert status.pid != ending.pid
    await stream.aclose()


async def test_what_is_asked_of_a_text_by_an_engine_that_dies_is_asked_once_more(own: House) -> None:
    await own.client.start()
    scoring = asyncio.ensure_future(own.client.score(ask(FRANCE), "The sea is wide and deep. " * 100))
    await asyncio.sleep(0.5)
    status = await own.client.status()
    assert status is not None
    assert not scoring.done()
    os.kill(status.pid, signal.SIGKILL)
    assert len(await scoring) > 600


async def test_a_stale_socket_and_lock_file_do_no_harm(own: House) -> None:
    own.home.engine_lock.touch()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
        stale.bind(str(own.home.engine_socket))
    assert (await answer(own, ask(FRANCE)))[0] == "The capital of France is Paris."


@pytest.mark.parametrize(
    ("fault", "expected"),
    [("missing", ModelMissing), ("truncated", ModelBroken), ("text", ModelBroken), ("architecture", ModelBroken)],
)
async def test_a_model_that_cannot_be_served_ends_the_start_in_its_own_error(
    home: Home, engine_settings: EngineSettings, starter: Path, fault: str, expected: type[EngineError]
) -> None:
    model = home.models / "other.gguf"
    content = starter.read_bytes() if fault in ("truncated", "architecture") else b"x" * 43
    if fault == "truncated":
        content = content[: len(content) // 2]
    if fault == "architecture":
        content = content.replace(LLAMA, LLAMA.replace(b"llama", b"zzama"), 1)
    if fault != "missing":
        model.write_bytes(content)
    client = EngineClient(home, engine_settings, lambda: write_manifest(home, starter, model="other"))
    begun = time.monotonic()
    with pytest.raises(expected) as caught:
        await client.start()
    assert time.monotonic() - begun < engine_settings.start_timeout_s
    assert "other.gguf" in str(caught.value.facts["path"])
    assert not is_locked(home)


async def test_a_model_that_memory_cannot_hold_is_refused_before_it_is_loaded(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    home.config_file.write_text("engine: {memory_reserve_mb: 100000000}\n")
    client = EngineClient(home, engine_settings, lambda: write_manifest(home, starter))
    with pytest.raises(ModelTooBig):
        await client.start()


def test_the_starter_is_told_one_thing_and_nobody_else_is_told_another(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    report = reporter(theirs)
    report({"ready": 1})
    somebody = tmp_path / "somebody"
    handle = os.open(somebody, os.O_CREAT | os.O_WRONLY)
    if handle != theirs:
        os.dup2(handle, theirs)
        os.close(handle)
    report({"error": {}})
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        assert pipe.read() == '{"ready": 1}\n'
    assert somebody.read_text() == ""
