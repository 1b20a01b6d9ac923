"""Time to first token and tokens per second of the engine's HTTP server beside that of ``xllamacpp``."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.engines import Connect, engine, peer_of
from benchmarks.measures import side_by_side
from benchmarks.peer_server import PEER
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, stream

FORMED = ", served form"
# One line of the long prompt is about this many tokens of the starter model.
LINE = "Day {day}: the family walked along the river, ate under the trees and came home tired and glad.\n"
LINE_TOKENS = 24


def prompt(lines: int, number: int) -> str:
    """A question after ``lines`` lines of text. No two numbers share a beginning, so no prefix is in a cache."""
    diary = "".join(LINE.format(day=day) for day in range(1, lines + 1))
    return f"Diary {number * 7919 + 13} of the house.\n{diary}Write a very long story about a dog and a lighthouse."


def streams(plan: Plan, *, formed: bool = False) -> list[Row]:
    """Four rows: first token and speed, after a short prompt and after a long one; one reader at a time."""
    notes: list[str] = []
    rows = []
    with engine(plan.engine, formed=formed) as (home, ours), peer_of(plan.engine, home, 1, notes) as theirs:
        for size, lines in (("short prompt", 0), ("long prompt", plan.engine.long_prompt_tokens // LINE_TOKENS)):

            def write(reach: Connect, number: int, lines: int = lines) -> Streamed:
                return stream(reach(), prompt(lines, number), plan.engine.stream_tokens)

            sides = side_by_side(partial(write, ours), theirs and partial(write, theirs), plan.engine.stream_rounds)
            rows += _rows(size + (FORMED if formed else ""), *sides, notes, 1.1 if formed else 1.0)
    return rows


def _rows(size: str, mine: list[Streamed], other: list[Streamed], notes: list[str], bound: float) -> list[Row]:
    lengths = f"Prompt of {mine[0].prompt_tokens} tokens, answers of {mine[0].tokens}"
    lengths += f" and {other[0].tokens}." if other else "."
    note = " ".join([lengths, *notes])
    return [
        row(
            f"first token, {size}",
            median(each.first_token_s for each in mine) * 1000,
            "ms",
            peer=PEER,
            peer_value=median(each.first_token_s for each in other) * 1000 if other else None,
            samples=len(mine),
            note=note,
        ),
        row(
            f"writing, {size}",
            median(each.tokens_per_second for each in mine),
            "tokens/s",
            peer=PEER,
            peer_value=median(each.tokens_per_second for each in other) if other else None,
            better="higher",
            bound=bound,
            samples=len(mine),
            note=note,
        ),
    ]
