"""Several people at one engine: four at once, a short question in a crowd, a stop in the middle of reading."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks.decoding import FORMED, LINE, LINE_TOKENS, prompt
from benchmarks.engines import Connect, engine, peer_of, wait_for_busy
from benchmarks.errors import MeasurementFailed
from benchmarks.measures import side_by_side
from benchmarks.peer_server import PEER
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, converse, opened, stream

STREAMS = 4
BESIDE_PROMPT, STOPPED_PROMPT = 2000, 6000


@dataclass(frozen=True)
class Four:
    """Answers asked for at the moment ``begun``, by ``perf_counter``, and written at once."""

    begun: float
    answers: list[Streamed]

    @property
    def together(self) -> float:
        """All tokens per second, while every one of them was being written. Raises MeasurementFailed."""
        begun = max(each.arrivals[0] for each in self.answers)
        ended = min(each.arrivals[-1] for each in self.answers)
        if ended <= begun:
            raise MeasurementFailed("The answers were not written at the same time.")
        return sum(_tokens_between(each, begun, ended) for each in self.answers) / (ended - begun)

    @property
    def in_all(self) -> float:
        """All tokens per second, from the asking to the last word of any."""
        ended = max(each.arrivals[-1] for each in self.answers)
        return sum(each.tokens for each in self.answers) / (ended - self.begun)

    @property
    def fairness(self) -> float:
        """The speed of the slowest as a share of the fastest's."""
        speeds = [each.tokens_per_second for each in self.answers]
        return min(speeds) / max(speeds)


def _tokens_between(answer: Streamed, begun: float, ended: float) -> float:
    """About how many tokens came after ``begun`` and up to ``ended``: a piece of text may be of several."""
    pieces = sum(begun < arrival <= ended for arrival in answer.arrivals)
    return pieces * answer.tokens / len(answer.arrivals)


def four_streams(plan: Plan, *, formed: bool = False) -> list[Row]:
    """Four answers written at once: all their tokens per second, and how fairly they are shared out."""
    notes: list[str] = []

    def write(reach: Connect, number: int) -> Four:
        begun = time.perf_counter()
        with ThreadPoolExecutor(STREAMS) as readers:
            asked = [
                readers.submit(stream, reach(), prompt(0, number * STREAMS + place), plan.engine.stream_tokens)
                for place in range(STREAMS)
            ]
            return Four(begun, [each.result() for each in asked])

    with engine(plan.engine, formed=formed) as (home, ours), peer_of(plan.engine, home, STREAMS, notes) as theirs:
        mine, other = side_by_side(partial(write, ours), theirs and partial(write, theirs), plan.engine.stream_rounds)
    form = FORMED if formed else ""
    return [
        row(
            f"four streams at once{form}",
            median(four.together for four in mine),
            "tokens/s",
            peer=PEER,
            peer_value=median(four.together for four in other) if other else None,
            bound=1.1,
            better="higher",
            samples=len(mine),
            note=" ".join(["All tokens, while all four were being written.", *notes]),
        ),
        row(
            f"four streams, from the question on{form}",
            median(four.in_all for four in mine),
            "tokens/s",
            peer=PEER,
            peer_value=median(four.in_all for four in other) if other else None,
            better="higher",
            samples=len(mine),
            note="All tokens, over the time from the asking to the last word of any.",
        ),
        row(
            f"slowest of four, of the fastest{form}",
            median(four.fairness for four in mine),
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
