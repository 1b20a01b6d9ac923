"""How planning grows with the number of stages, and checking a store with the number of its objects."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from configs.home import Home
from memory.artifacts import ArtifactStore
from trainer.pipeline.artifacts import Adapter
from trainer.pipeline.graph import graph_of
from trainer.pipeline.stages import stage
from trainer.pipeline.usual import Wiring

FAN = 4  # stages that each stage takes from, as many as the arguments of ``work``
# Ten times as many may take so many times as long: what grows with the square takes a hundred times.
LINEAR = 15.0


def planning(plan: Plan) -> list[Row]:
    """Both at the full size and at a tenth of it."""
    rounds, sizes = plan.planning.rounds, plan.planning
    stages = [_fastest(_planner(count), rounds) for count in (sizes.stages // 10, sizes.stages)]
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        counts = (sizes.objects // 10, sizes.objects)
        objects = [_checked(Path(folder) / str(count), count, rounds) for count in counts]
    return [
        row(f"plan of {sizes.stages:,} stages", stages[1], "s", samples=rounds, note=_grown(stages)),
        row("plan, ten times the stages", stages[1] / stages[0], "times", bound=LINEAR, bound_on="value"),
        row(f"check of {sizes.objects:,} objects", objects[1], "s", samples=rounds, note=_grown(objects)),
        row("check, ten times the objects", objects[1] / objects[0], "times", bound=LINEAR, bound_on="value"),
    ]


def _planner(count: int) -> Callable[[], None]:
    """Plans a graph of ``count`` stages that each take what the ``FAN`` before it give, described backwards."""

    def work(context: object, first: Adapter, second: Adapter, third: Adapter, fourth: Adapter) -> Adapter:
        return first

    made = stage(work, "cheap", "adapter")
    stages = {name: replace(made, name=name) for name in (f"s{number}" for number in range(count))}
    wiring: Wiring = {
        name: {
            argument: f"s{number - back}" if number >= back else "begun"
            for back, argument in enumerate(made.takes, start=1)
        }
        for number, name in reversed(list(enumerate(stages)))
    }

    def once() -> None:
        graph = graph_of(wiring, stages, {"begun": Adapter}, "benchmark")
        assert graph.names[-1] == f"s{count - 1}"  # noqa: S101 - a plan that is wrong is no measurement
        assert len(graph.made_invalid_by("s0")) == count  # noqa: S101

    return once


def _checked(folder: Path, count: int, rounds: int) -> float:
    """Seconds in which a store of ``count`` objects of a few bytes is listed and each object held to its hash."""
    home = Home(folder)
    for number in range(count):
        content = number.to_bytes(8, "big")
        path = home.artifact(hashlib.sha256(content).hexdigest())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    os.sync()
    store = ArtifactStore(home, clock=time.time, unfinished_seconds=0)

    def once() -> None:
        found = store.objects()
        assert len(found) == count  # noqa: S101 - a check of another store is no measurement
        for each in found:
            store.verify(each.digest)

    return _fastest(once, rounds)


def _fastest(once: Callable[[], None], rounds: int) -> float:
    """Seconds of the fastest round: whatever else the machine does only adds to these milliseconds."""
    once()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        once()
        times.append(time.perf_counter() - begun)
    return min(times)


def _grown(found: list[float]) -> str:
    return f"A tenth of them: {found[0]:.3g} s."
