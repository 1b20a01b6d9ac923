"""Swaps between two snapshots while four people are answered all the time."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import psutil

from benchmarks.crowd import STREAMS
from benchmarks.decoding import prompt
from benchmarks.engines import Connect, call, engine
from benchmarks.measures import percentile
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, stream
from benchmarks.two_snapshots import two_snapshots
from engine.starting import LOG

ANSWER_TOKENS = 64
PREFIX_CACHE_MB = 16


def swaps(plan: Plan) -> list[Row]:
    """Four rows: the pause of a swap, what a reader feels of it, whole answers, memory."""
    # Room for few beginnings of conversations: what fills a cache would look like what leaks.
    with engine(plan.engine, prefix_cache_mb=PREFIX_CACHE_MB) as (home, reach):
        digests = two_snapshots(home)
        base = call(reach, "GET", "/status")["snapshot"]
        known = [stream(reach(), prompt(0, place), ANSWER_TOKENS).text for place in range(STREAMS)]
        process = psutil.Process(call(reach, "GET", "/status")["pid"])
        ending = threading.Event()
        resident: list[int] = []
        with ThreadPoolExecutor(STREAMS) as readers:
            crowd = [readers.submit(_read_on, reach, place, ending) for place in range(STREAMS)]
            try:
                for number in range(plan.engine.swaps):
                    call(reach, "POST", "/snapshot", {"manifest": digests[(number + 1) % 2]})
                    resident.append(process.memory_info().rss)
                    time.sleep(plan.engine.between_swaps_s)
            finally:
                ending.set()
            answers = [(place, answer) for place, reader in enumerate(crowd) for answer in reader.result()]
        log = (home.logs / LOG).read_text(encoding="utf-8").splitlines()
    pauses = [line["pause_s"] for line in map(json.loads, log) if line["event"] == "swapped"]
    waits = [after - before for _, answer in answers for before, after in pairwise(answer.arrivals)]
    # Beside others an adapter's sums are rounded in another way than alone; the base's are not.
    of_base = [(place, answer) for place, answer in answers if answer.snapshot == base]
    whole = sum(answer.text == known[place] for place, answer in of_base)
    return [
        row(
            "pause of a swap, 95th percentile",
            percentile(pauses, 0.95) * 1000,
            "ms",
            bound=100,
            bound_on="value",
            samples=len(pauses),
            note=f"Between two answers' steps; the longest was {max(pauses) * 1000:.1f} ms.",
        ),
        row(
            "wait for the next word while swapping, 99th percentile",
            percentile(waits, 0.99) * 1000,
            "ms",
            samples=len(waits),
            note=f"The median is {percentile(waits, 0.5) * 1000:.0f} ms, with four answers by two sets of weights.",
        ),
        row(
            "answers of the base that are what it says alone",
            whole / len(of_base),
            "share",
            bound=1.0,
            bound_on="value",
            better="higher",
            samples=len(of_base),
            note=f"Word for word, beside {len(answers) - len(of_base)} by the other snapshot.",
        ),
        row(
            "resident memory at the end, of that after a quarter",
            resident[-1] / resident[len(resident) // 4],
            "times",
            bound=1.02,
            bound_on="value",
            samples=len(resident),
        ),
    ]


def _read_on(reach: Connect, place: int, ending: threading.Event) -> list[Streamed]:
    """Ask the same question again and again until ``ending``."""
    answers: list[Streamed] = []
    while not ending.is_set():
        answers.append(stream(reach(), prompt(0, place), ANSWER_TOKENS))
    return answers
