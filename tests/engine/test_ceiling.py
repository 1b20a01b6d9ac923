"""The most memory that an engine may hold: caches go first, then it makes room for a fresh one, and nobody notices."""

from __future__ import annotations

import asyncio
import json
import platform
import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine import crashes
from engine.answers import Finished
from engine.ceiling import LOOKS_TO_SETTLE, MB, Ceiling
from engine.client import EngineClient
from engine.errors import ModelAboveLimit
from engine.starting import LOG
from tests.engine.conftest import PATIENCE, Break, House, ask
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import FRANCE, STORY, answer

# The starter's file and so small a cache take less than this; an engine that has answered once takes more.
TIGHT = "engine: {context_size: 512, slots: 1, threads: 1, queue_length: 2, watch_s: 0.1, memory_limit_mb: 120}\n"
PARIS = "The capital of France is Paris."


def lives(home: Home, settings: EngineSettings, starter: Path, config: str) -> House:
    home.config_file.write_text(config)
    digest = write_manifest(home, starter)
    return House(home, EngineClient(home, settings, lambda: digest), settings, starter, digest)


def events(house: House) -> list[str]:
    return [json.loads(line)["event"] for line in (house.home.logs / LOG).read_text().splitlines()]


def test_caches_are_dropped_first_and_the_engine_retires_only_where_that_was_not_enough() -> None:
    ceiling = Ceiling(100)
    assert [ceiling.look(amount * MB) for amount in (99, 100, 101, 99, 101)] == [
        "none", "none", "drop_caches", "none", "drop_caches",
    ]  # fmt: skip
    assert [ceiling.look(101 * MB) for _ in range(LOOKS_TO_SETTLE + 1)] == [*["none"] * LOOKS_TO_SETTLE, "retire"]


def test_no_limit_is_never_reached() -> None:
    assert Ceiling(0).look(1 << 50) == "none"


async def test_an_engine_above_its_limit_is_followed_by_a_fresh_one_and_no_question_fails(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    house = lives(home, engine_settings, starter, TIGHT)
    first = await house.client.start()
    assert first.memory_bytes > 120 * MB
    pids: set[int] = set()
    async with asyncio.timeout(PATIENCE):
        while len(pids) < 3:
            text, finished = await answer(house, ask(FRANCE))
            assert (text, finished.usage.snapshot) == (PARIS, "v0")
            pids.add((await house.client.start()).pid)
    await house.client.stop()
    assert {"drop_caches", "retire", "ended"} <= set(events(house))
    assert crashes.reports(home) == []


async def test_an_engine_that_cannot_wait_before_it_makes_room_ends_all_the_same(
    home: Home, engine_settings: EngineSettings, starter: Path, broken: Break
) -> None:
    house = lives(home, engine_settings, starter, TIGHT)
    broken("retire")
    first = await house.client.start()
    async with asyncio.timeout(PATIENCE):
        while (await house.client.start()).pid == first.pid:
            assert (await answer(house, ask(FRANCE)))[0] == PARIS
    await house.client.stop()
    assert {"retire", "retiring_failed", "ended"} <= set(events(house))


async def test_an_engine_that_has_answered_nothing_yet_does_not_retire(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    house = lives(home, engine_settings, starter, TIGHT)
    first = await house.client.start()
    await asyncio.sleep(1)
    assert (await house.client.start()).pid == first.pid
    await house.client.stop()


async def test_an_answer_in_flight_is_written_to_its_end_while_a_new_question_waits_for_the_fresh_engine(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    house = lives(home, engine_settings, starter, TIGHT)
    first = await house.client.start()
    await answer(house, ask(FRANCE), 1)
    stream = house.client.chat(ask(STORY), house.sampling(120))
    begun = await anext(stream)
    assert not isinstance(begun, Finished)
    async with asyncio.timeout(PATIENCE):
        while "retire" not in events(house):
            await asyncio.sleep(0.02)
    asking = asyncio.ensure_future(answer(house, ask(FRANCE)))
    last = [piece async for piece in stream][-1]
    assert isinstance(last, Finished)
    assert last.reason in ("stop", "length")
    assert (await asking)[0] == PARIS
    assert (await house.client.start()).pid != first.pid
    await house.client.stop()


async def test_a_model_that_alone_takes_more_than_the_limit_is_refused_with_both_sizes(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    house = lives(home, engine_settings, starter, "engine: {memory_limit_mb: 80}\n")
    with pytest.raises(ModelAboveLimit) as caught:
        await house.client.start()
    assert caught.value.facts["limit_mb"] == 80
    assert int(caught.value.facts["needed_mb"]) > 80


async def test_the_kernel_keeps_no_image_of_an_engine_that_dies(
    home: Home, engine_settings: EngineSettings, starter: Path
) -> None:
    house = lives(home, engine_settings, starter, TIGHT)
    status = await house.client.start()
    assert psutil.Process(status.pid).rlimit(resource.RLIMIT_CORE)[0] <= 1
    await house.client.stop()


# Prints how many blocks are in memory of their own after a larger one than the last was freed.
BLOCKS_OF_THEIR_OWN = """
import ctypes, os
from configs.home import Home
from configs.settings import load_settings
from engine.upkeep import Upkeep

c_library = ctypes.CDLL(None)
c_library.malloc.restype, c_library.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)

class Kept(ctypes.Structure):  # mallinfo2(3)
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]

c_library.mallinfo2.restype = Kept
home = Home.find(os.environ)
Upkeep(home, load_settings(home, {}).engine)
c_library.free(c_library.malloc(16 << 20))
before = c_library.mallinfo2().hblks
c_library.malloc(4 << 20)
print(c_library.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries give memory back in their own way")
def test_what_an_engine_frees_goes_back_to_the_system_also_after_a_larger_block_was_freed(home: Home) -> None:
    told = subprocess.run(
        [sys.executable, "-c", BLOCKS_OF_THEIR_OWN], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert int(told.stdout) == 1
