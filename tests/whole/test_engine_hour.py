"""An hour with eight askers: kill -9 every few minutes, swaps, cancels; SOAK_SECONDS says how long it really is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from configs.home import Home
from configs.settings import load_settings
from engine import crashes
from engine.answers import Delta
from engine.client import EngineClient
from tests.engine.snapshots import write_adapter, write_manifest
from tests.whole.engine_load import QUESTIONS, Load, Seen, conversation

SECONDS = float(os.environ.get("SOAK_SECONDS", "3600"))
ASKERS = 8
# The last of these shares of the time belongs to an engine that nobody kills, whose memory is measured.
LAST_LIFE = 0.55
WARM_UP = 0.5  # of that life: until then its caches fill
KILL_EVERY_S = min(240.0, SECONDS / 8)
SWAP_EVERY_S = (3.0, 12.0)
SAMPLE_EVERY_S = 1.0
MOST_GROWTH = 0.02
LONGEST_RESTART_S = 3.0
# So strong an adapter lets the model speak English still, and say something else.
ANOTHER_MODEL = 0.015
# The cache is as large from the start as it gets, so that what grows is what leaks.
CONFIG = (
    "engine: {context_size: 2048, first_context_size: 2048, slots: 4, queue_length: 32, prefix_cache_mb: 16, "
    "crash_reports: 100}\n"
)


@dataclass
class Memory:
    """Resident bytes of the engines, as (process, moment, bytes)."""

    samples: list[tuple[int, float, int]] = field(default_factory=list)

    def growth(self, pid: int) -> float:
        """How much the last quarter of a life after its warm-up held more than the first, as a share."""
        mine = [(moment, held) for process, moment, held in self.samples if process == pid]
        begun, ended = mine[0][0], mine[-1][0]
        warm = [held for moment, held in mine if moment >= begun + (ended - begun) * WARM_UP]
        quarter = max(1, len(warm) // 4)
        first, last = statistics.median(warm[:quarter]), statistics.median(warm[-quarter:])
        return last / first - 1


async def expected_answers(load: Load, digests: dict[str, str], serve: dict[str, str]) -> None:
    """Ask every question of both snapshots in peace, to know what each says."""
    client = EngineClient(load.home, load.settings, load.current)
    for question in QUESTIONS:
        load.expected[question] = {}
    for name, digest in digests.items():
        serve["digest"] = digest
        for question in QUESTIONS:
            stream = client.chat(conversation(question), load.sampling(120))
            pieces = [piece.text async for piece in stream if isinstance(piece, Delta)]
            load.expected[question][name] = "".join(pieces)


async def swap_now_and_then(load: Load, digests: dict[str, str], serve: dict[str, str], chance: random.Random) -> None:
    """Promote the other snapshot again and again."""
    while not load.ending:
        await asyncio.sleep(chance.uniform(*SWAP_EVERY_S))
        serve["digest"] = next(digest for digest in digests.values() if digest != serve["digest"])
        load.seen.outcomes["promoted"] += 1


async def kill_now_and_then(load: Load, until: float, chance: random.Random) -> None:
    """kill -9 whatever engine runs, every few minutes, until the last life."""
    client = EngineClient(load.home, load.settings, load.current)
    while True:
        await asyncio.sleep(KILL_EVERY_S * chance.uniform(0.7, 1.3))
        if time.monotonic() > until:
            return
        status = await client.start()
        load.seen.killed_at, load.seen.waiting_for_first = time.monotonic(), True
        os.kill(status.pid, signal.SIGKILL)
        load.seen.outcomes["killed"] += 1


async def measure(load: Load, memory: Memory) -> None:
    """Note the resident memory of the running engine every moment."""
    client = EngineClient(load.home, load.settings, load.current)
    while not load.ending:
        with contextlib.suppress(psutil.Error):
            status = await client.status()
            if status is not None:
                memory.samples.append((status.pid, time.monotonic(), psutil.Process(status.pid).memory_info().rss))
        await asyncio.sleep(SAMPLE_EVERY_S)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 900)
async def test_an_hour_of_mixed_load_with_kills_ends_every_request_in_an_answer_or_a_clear_error(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    home.config_file.write_text(CONFIG)
    settings = load_settings(home, {}).engine
    digests = {
        "v0": write_manifest(home, starter),
        "v1": write_manifest(
            home, starter, name="v1", adapter=write_adapter(tmp_path / "a.gguf", strength=ANOTHER_MODEL)
        ),
    }
    serve, seen, memory, chance = {"digest": digests["v0"]}, Seen(), Memory(), random.Random(1)
    load = Load(home, settings, lambda: serve["digest"], seen)
    await expected_answers(load, digests, serve)
    unlike = [question for question, said in load.expected.items() if len(set(said.values())) == len(digests)]
    assert len(unlike) > len(QUESTIONS) / 2

    begun = time.monotonic()
    askers = [asyncio.ensure_future(load.ask_for_ever(number, random.Random(number))) for number in range(ASKERS)]
    others = [
        asyncio.ensure_future(swap_now_and_then(load, digests, serve, chance)),
        asyncio.ensure_future(kill_now_and_then(load, begun + SECONDS * (1 - LAST_LIFE), chance)),
        asyncio.ensure_future(measure(load, memory)),
    ]
    await asyncio.sleep(SECONDS)
    load.ending = True
    await asyncio.gather(*askers, *others)

    client = EngineClient(home, settings, load.current)
    status = await client.start()
    growth = memory.growth(status.pid)
    widest = await load.judge_unlike(digests)
    killed = seen.outcomes["killed"]
    report = [
        f"{time.monotonic() - begun:.0f} s, {sum(seen.outcomes.values())} ends: {dict(sorted(seen.outcomes.items()))}",
        f"restart to first token: {[round(seconds, 2) for seconds in seen.restarts_s]} s",
        f"memory of the last life: {growth:+.2%} after its warm-up, {status.memory_bytes >> 20} MB",
        f"answers that rounding made others: {len(seen.unlike)}, by {widest:.3f} nats at most",
        *seen.faults,
    ]
    print("\n".join(report))  # noqa: T201
    await client.stop()
    assert seen.faults == []
    assert not [name for name in seen.outcomes if name.endswith("no end")]
    assert seen.outcomes["known: stop"] + seen.outcomes["known: length"] > SECONDS / 60
    assert killed >= 2
    assert len(seen.restarts_s) == killed
    assert max(seen.restarts_s) < LONGEST_RESTART_S
    assert growth < MOST_GROWTH
    assert len(crashes.reports(home)) == killed
