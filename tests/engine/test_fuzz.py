"""Thousands of requests that nobody would send on purpose, to a real engine: each is answered, and it lives on."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import psutil
import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine import crashes
from engine.client import EngineClient
from tests.engine.conftest import PATIENCE, House, ask
from tests.engine.fuzzing import Case, Fuzzer
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import FRANCE, answer, until_idle

SEED = 20_000
AT_ONCE = 8
READ_TIMEOUT_S = 0.5
CONFIG = (
    "engine: {context_size: 256, slots: 4, threads: 1, queue_length: 64, watch_s: 0.5, hang_timeout_s: 60, "
    f"request_read_timeout_s: {READ_TIMEOUT_S}, sampling: {{max_tokens: 2}}}}\n"
)
# The engine says how it is at any time within this; an answer may wait its turn for longer on a busy machine.
LONGEST_SILENCE_S = 5.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Reply:
    """What came back: nothing, where the server only closed."""

    status: int
    body: bytes
    seconds: float


@pytest.fixture
async def fuzzed(home: Home, engine_settings: EngineSettings, starter: Path) -> AsyncIterator[House]:
    home.config_file.write_text(CONFIG)
    digest = write_manifest(home, starter)
    made = House(home, EngineClient(home, engine_settings, lambda: digest), engine_settings, starter, digest)
    yield made
    await made.client.stop()


async def send(house: House, case: Case) -> Reply | None:
    """Send a case; what came back, or None where it went away on purpose."""
    reader, writer = await asyncio.open_unix_connection(str(house.home.engine_socket))
    try:
        try:
            for piece in case.pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # the server has heard enough; what it says to that is still to be read
        if case.drop:
            return None
        begun = time.monotonic()
        status, content = await read(reader, "HEAD" if case.head else "POST")
        return Reply(status, content, time.monotonic() - begun)
    finally:
        writer.transport.abort()


async def read(reader: asyncio.StreamReader, method: str) -> tuple[int, bytes]:
    """The status and the body of the first final answer; 0 where the server closed without one."""
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
    http.send(h11.EndOfMessage())
    status, content = 0, b""
    while True:
        try:
            event = http.next_event()
        except h11.RemoteProtocolError:
            return 0, content  # it closed before it had said all
        if event is h11.NEED_DATA:
            try:
                http.receive_data(await reader.read(65536))
            except ConnectionError:
                return status, content
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            content += event.data
        elif isinstance(event, h11.InformationalResponse):
            continue
        else:
            return status, content


def wrong_with(case: Case, reply: Reply) -> str | None:
    """What is not as it must be: an answer of ours, or an error of ours."""
    if reply.status == 0:
        return "nothing came back" if case.whole else None
    if case.head:
        return None
    if reply.status >= 400:
        error = _json(reply.body).get("error", {})
        good = isinstance(error, dict) and {"message", "type", "code", "facts"} <= error.keys()
        return None if good else f"{reply.status} without an error of ours"
    if reply.status != 200:
        return f"{reply.status}"
    if reply.body.startswith(b"data: "):
        last = reply.body.rstrip().rpartition(b"data: ")[2]
        return None if last == b"[DONE]" else "a stream without an end"
    if reply.body.startswith(b"# HELP"):
        return None
    found = _json(reply.body)
    choices = found.get("choices")
    answered = bool(
        choices and isinstance(choices[0]["message"]["content"], str | None) and found["usage"]["prompt_tokens"]
    )
    other = found.keys() & {"data", "pid", "snapshot", "tokens", "scores", "object"}
    return None if answered or other else "no answer of ours"


def _json(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def fuzz(house: House, count: int) -> collections.Counter[str]:
    """Send ``count`` cases, some at once; how many of each kind got which status. Fails on the first wrong reply."""
    fuzzer = Fuzzer(SEED)
    cases = iter([fuzzer.case() for _ in range(count)])
    seen: collections.Counter[str] = collections.Counter()

    async def work() -> None:
        for case in cases:
            try:
                async with asyncio.timeout(PATIENCE):
                    reply = await send(house, case)
            except TimeoutError:
                pytest.fail(f"{case.kind} hung: {b''.join(case.pieces)[:2000]!r}")
            if reply is not None:
                wrong = wrong_with(case, reply)
                assert wrong is None, f"{case.kind}: {wrong}: {b''.join(case.pieces)[:2000]!r} -> {reply}"
            seen[f"{case.kind} {reply.status if reply else 'dropped'}"] += 1

    watching = asyncio.ensure_future(watch(house))
    async with asyncio.TaskGroup() as workers:
        for _ in range(AT_ONCE):
            workers.create_task(work())
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    return seen


async def watch(house: House) -> None:
    """Ask the engine again and again how it is; fails where it takes too long to say."""
    while True:
        async with asyncio.timeout(LONGEST_SILENCE_S):
            assert await house.client.status() is not None
        await asyncio.sleep(LOOK_EVERY_S)


async def stands(house: House, count: int) -> collections.Counter[str]:
    """Fuzz, and see that the engine is the same one as before, idle, right, and holds no more files than then."""
    before = await house.client.start()
    process = psutil.Process(before.pid)
    files = process.num_fds()
    seen = await fuzz(house, count)
    await until_idle(house)
    text, _ = await answer(house, ask(FRANCE))
    assert text == "The capital of France is Paris."
    after = await house.client.start()
    assert after.pid == before.pid
    assert crashes.reports(house.home) == []
    async with asyncio.timeout(PATIENCE):
        while process.num_fds() > files + 4:
            await asyncio.sleep(0.1)
    return seen


@pytest.mark.timeout(600)
async def test_five_hundred_fuzzed_requests_are_answered_and_leave_the_engine_whole(fuzzed: House) -> None:
    seen = await stands(fuzzed, 500)
    assert sum(number for name, number in seen.items() if name.startswith("mutated 200")) > 15
    assert sum(number for name, number in seen.items() if name.startswith("mutated 400")) > 15


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_ten_thousand_fuzzed_requests_are_answered_and_leave_the_engine_whole(fuzzed: House) -> None:
    begun = time.monotonic()
    seen = await stands(fuzzed, 10_000)
    print(f"{sum(seen.values())} requests in {time.monotonic() - begun:.0f} s: {dict(sorted(seen.items()))}")  # noqa: T201
