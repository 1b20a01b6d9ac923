"""Several people at one engine: four at once, a short question in a crowd, a stop in the middle of reading."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median

from benchmarks.decoding import LINE, LINE_TOKENS, prompt
from benchmarks.engines import Connect, engine, peer_of, wait_for_busy
from benchmarks.errors import MeasurementFailed
from benchmarks.measures import side_by_side
from benchmarks.peer_server import PEER
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, converse, opened, stream

STREAMS = 4
BESIDE_PROMPT, STOPPED_PROMPT = 2000, 6000


def four_streams(plan: Plan) -> list[Row]:
    """Four answers written at once: all their tokens per second, and how fairly they are shared out."""
    notes: list[str] = []

    def write(reach: Connect, number: int) -> list[Streamed]:
        with ThreadPoolExecutor(STREAMS) as readers:
            asked = [
                readers.submit(stream, reach(), prompt(0, number * STREAMS + place), plan.engine.stream_tokens)
                for place in range(STREAMS)
            ]
            return [each.result() for each in asked]

    with engine(plan.engine) as (home, ours), peer_of(plan.engine, home, STREAMS, notes) as theirs:
        mine, other = side_by_side(partial(write, ours), theirs and partial(write, theirs), plan.engine.stream_rounds)
    fair = [min(each.tokens_per_second for each in four) / max(e.tokens_per_second for e in four) for four in mine]
    return [
        row(
            "four streams at once",
            median(map(_together, mine)),
            "tokens/s",
            peer=PEER,
            peer_value=median(map(_together, other)) if other else None,
            bound=1.1,
            better="higher",
            samples=len(mine),
            note=" ".join(["All tokens, over the time from the first of any to the last of any.", *notes]),
        ),
        row(
            "slowest of four, of the fastest",
            median(fair),
            "share",
            bound=0.8,
            bound_on="value",
            better="higher",
            samples=len(mine),
        ),
    ]


def beside(plan: Plan) -> list[Row]:
    """A short question while a long prompt is read and a long answer is written: its first token."""
    waits = []
    with engine(plan.engine) as (_, reach), ThreadPoolExecutor(2) as others:
        for number in range(plan.engine.stream_rounds):
            writing = others.submit(stream, reach(), prompt(0, 100 + number), 1000)
            time.sleep(1)
            reading = others.submit(stream, reach(), prompt(BESIDE_PROMPT // LINE_TOKENS, 200 + number), 8)
            time.sleep(0.5)
            asked = [{"role": "user", "content": f"Say the number {number} in Spanish."}]
            waits.append(converse(reach(), asked, 10).first_token_s)
            if writing.done() or reading.done():
                raise MeasurementFailed("The others had ended before the short question was answered.")
            writing.result()
            reading.result()
    return [
        row(
            "first token beside a long prompt and a long answer",
            max(waits),
            "s",
            bound=0.5,
            bound_on="value",
            samples=len(waits),
            note=f"The worst of them; the median is {median(waits):.3f} s.",
        )
    ]


def stop(plan: Plan) -> list[Row]:
    """How long a slot is still busy after the reader of a long prompt's answer went away."""
    waits = []
    with engine(plan.engine, context_size=8192) as (_, reach):
        for number in range(plan.engine.stream_rounds):
            text = LINE.format(day=number) * (STOPPED_PROMPT // LINE_TOKENS)
            body = json.dumps({"messages": opened(text), "max_tokens": 8, "stream": True})
            connection = reach()
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            wait_for_busy(reach, 1, timeout=plan.engine.timeout_s)
            time.sleep(0.5)
            connection.close()
            waits.append(wait_for_busy(reach, 0, timeout=plan.engine.timeout_s))
    return [
        row(
            "slot free after a stop in a long prompt",
            max(waits),
            "s",
            bound=0.3,
            bound_on="value",
            samples=len(waits),
            note=f"The worst of them; the median is {median(waits):.3f} s. A prompt of some {STOPPED_PROMPT} tokens.",
        )
    ]


def _together(answers: list[Streamed]) -> float:
    """All tokens per second, from the first word of any to the last of any."""
    begun, ended = min(each.arrivals[0] for each in answers), max(each.arrivals[-1] for each in answers)
    return sum(each.tokens - 1 for each in answers) / (ended - begun)
