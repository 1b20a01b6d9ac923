"""The graph of a family that has kept everything: a million nodes, two million edges, and what is three hops away."""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.plan import GraphPlan
from benchmarks.rows import Row, row
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household

HOPS = 3
# The bound that is promised, in milliseconds at the median.
BOUND_MS = 10.0
_BATCH = 100_000


def rows(plan: GraphPlan) -> list[Row]:
    """Three hops around random nodes, the way between two of them, and the size of the file."""
    with tempfile.TemporaryDirectory(prefix="enlace-graph-") as folder:
        home = Home(Path(folder) / "home")
        settings = load_settings(home, {}).memory
        with Household.open(home, settings) as household:
            member = household.members.default(name="Ana")
            took = _fill(home.family_db, plan)
            graph = household.member(member.id).papers.graph
            chance = random.Random(7)  # noqa: S311
            some = [graph.node("shared", chance.randrange(1, plan.nodes + 1)) for _ in range(2 * plan.looks)]
            most = settings.documents.neighbours
            reached = [_timed(partial(graph.reach, node, HOPS, 100_000)) for node in some[: plan.looks]]
            drawn = [_timed(partial(graph.around, node, HOPS, most)) for node in some[: plan.looks]]
            ways = [
                _timed(partial(graph.path, *pair))
                for pair in zip(some[: plan.ways], some[plan.ways : 2 * plan.ways], strict=True)
            ]
        size = home.family_db.stat().st_size / 1e6
    note = f"{plan.nodes:,} nodes, {plan.edges:,} edges, random; filled in {took:.0f} s"
    return [
        row(
            "graph, three hops", _median(reached), "ms", bound=BOUND_MS, bound_on="value", samples=plan.looks, note=note
        ),
        row("graph, three hops, 95th percentile", _high(reached), "ms", samples=plan.looks),
        row("graph, three hops, drawn", _median(drawn), "ms", samples=plan.looks, note=f"at most {most} nodes"),
        row("graph, the way between two", _median(ways), "ms", samples=plan.ways, note="up to six hops"),
        row("graph, size of the file", size, "MB"),
    ]


def _fill(path: Path, plan: GraphPlan) -> float:
    """Put the graph into a home's file as documents would have, without reading any; the seconds that it took."""
    chance, begun = random.Random(3), time.monotonic()  # noqa: S311
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -500000")
    connection.execute(
        "INSERT INTO documents (seq, id, sha256, format, name, size, added_by, seen_at)"
        " VALUES (1, 'd', 'd', 'text', 'all', 1, 'm', 0)"
    )
    people = ((seq, "person", f"Persona {seq}", f"persona {seq}") for seq in range(1, plan.nodes + 1))
    for batch in _batches(people):
        connection.executemany("INSERT INTO nodes VALUES (?, ?, ?, ?)", batch)
        connection.executemany("INSERT INTO node_names VALUES (?, ?)", [(each[3], each[0]) for each in batch])
        connection.commit()
    edges = (
        (seq, chance.randrange(1, plan.nodes + 1), f"knows{seq % 3}", chance.randrange(1, plan.nodes + 1))
        for seq in range(1, plan.edges + 1)
    )
    for batch in _batches(edges):
        told = [each for each in batch if each[1] != each[3]]
        connection.executemany("INSERT OR IGNORE INTO statements VALUES (?, ?, ?, ?, NULL, 1)", told)
        connection.executemany(
            "INSERT INTO evidence VALUES (?, 1, 'rules-1', 0, 1, 'x', NULL, 1)", [(each[0],) for each in told]
        )
        connection.commit()
    connection.close()
    return time.monotonic() - begun


def _batches(items: Iterator[tuple[object, ...]]) -> Iterator[list[tuple[object, ...]]]:
    batch: list[tuple[object, ...]] = []
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _high(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]
