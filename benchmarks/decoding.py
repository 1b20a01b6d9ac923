"""Time to first token and tokens per second of the engine's HTTP server beside that of ``xllamacpp``."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment, enlace, temporary_home
from benchmarks.measures import side_by_side
from benchmarks.peer_server import PEER, connect, serving
from benchmarks.plan import EnginePlan, Plan
from benchmarks.processes import run
from benchmarks.rows import Row, row
from benchmarks.streaming import SocketConnection, Streamed, stream
from configs.home import Home
from configs.settings import load_settings

# One line of the long prompt is about this many tokens of the starter model.
LINE = "Day {day}: the family walked along the river, ate under the trees and came home tired and glad.\n"
LINE_TOKENS = 24


def prompt(lines: int, number: int) -> str:
    """A question after ``lines`` lines of text. No two numbers share a beginning, so no prefix is in a cache."""
    diary = "".join(LINE.format(day=day) for day in range(1, lines + 1))
    return f"Diary {number * 7919 + 13} of the house.\n{diary}Write a very long story about a dog and a lighthouse."


def streams(plan: Plan) -> list[Row]:
    """Four rows: first token and speed, after a short prompt and after a long one; one reader at a time."""
    notes: list[str] = []
    environment = clean_environment()
    with temporary_home() as home:
        run(enlace("engine", "start"), home, timeout=plan.engine.timeout_s)
        settings = load_settings(Home.find(home), home).engine
        threads = settings.threads or len(os.sched_getaffinity(0))
        socket = Home.find(home).engine_socket
        peer_server = serving(environment, threads, settings.context_size, 1, plan.engine.timeout_s)
        with without_peer(notes), peer_server as address:
            return _measured(plan.engine, socket, address, notes)
        return _measured(plan.engine, socket, None, notes)


def _measured(plan: EnginePlan, socket: Path, address: str | None, notes: list[str]) -> list[Row]:
    rows = []
    for size, lines in (("short prompt", 0), ("long prompt", plan.long_prompt_tokens // LINE_TOKENS)):
        ours = partial(_ours, socket, lines, plan)
        theirs = partial(_theirs, address, lines, plan) if address is not None else None
        mine, other = side_by_side(ours, theirs, plan.stream_rounds)
        rows += _rows(size, mine, other, notes)
    return rows


def _rows(size: str, mine: list[Streamed], other: list[Streamed], notes: list[str]) -> list[Row]:
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
            bound=1.0,
            samples=len(mine),
            note=note,
        ),
    ]


def _ours(socket: Path, lines: int, plan: EnginePlan, number: int) -> Streamed:
    return stream(SocketConnection(socket, plan.timeout_s), prompt(lines, number), plan.stream_tokens)


def _theirs(address: str, lines: int, plan: EnginePlan, number: int) -> Streamed:
    return stream(connect(address, plan.timeout_s), prompt(lines, number), plan.stream_tokens)
