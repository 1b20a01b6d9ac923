"""From the key that goes back to the first answer of the snapshot before, in the interface, with a running engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from textual.pilot import Pilot

from app.assistant.events import Done, Failed, Started, Token
from app.interface.app import EnlaceApp
from app.session import Session
from benchmarks.engines import engine
from benchmarks.errors import MeasurementFailed
from benchmarks.measures import percentile
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.two_snapshots import two_snapshots

ANSWER_TOKENS = 16
POLL_S = 0.001


def rollback(plan: Plan) -> list[Row]:
    """Three rows: until the snapshot before is current, until the first word of an answer by it, until its end."""
    with engine(plan.engine) as (home, _):
        two_snapshots(home)
        times = asyncio.run(_rounds(home.root, plan))
    moved, first, whole = zip(*times, strict=True)
    note = f"The slowest of {len(times)} rounds; the median is"
    return [
        row("rollback: until it is current", max(moved), "s", samples=len(moved), note=_note(note, moved)),
        row(
            "rollback: from the key to the first word of the old snapshot",
            max(first),
            "s",
            bound=1.0,
            bound_on="value",
            samples=len(first),
            note=_note(note, first),
        ),
        row(
            f"rollback: from the key to the end of its answer, {ANSWER_TOKENS} tokens",
            max(whole),
            "s",
            samples=len(whole),
            note=_note(note, whole),
        ),
    ]


def _note(note: str, values: tuple[float, ...]) -> str:
    return f"{note} {percentile(values, 0.5):.3f} s."


async def _rounds(home: Path, plan: Plan) -> list[tuple[float, float, float]]:
    options = {"engine": {"sampling": {"max_tokens": ANSWER_TOKENS, "temperature": 0.0}}}
    with Session({"ENLACE_HOME": str(home), "LANG": "en_GB.UTF-8"}, language="en", options=options) as session:
        app = EnlaceApp(session)
        async with app.run_test(size=(120, 36)) as pilot:
            await _until(lambda: app.is_open, plan)
            await pilot.press("f9", "f4")
            # The first round reads what every other one finds in memory.
            return [await _round(session, pilot, plan, number) for number in range(plan.rollback.rounds + 1)][1:]


async def _round(session: Session, pilot: Pilot[int], plan: Plan, number: int) -> tuple[float, float, float]:
    """Seconds from the key until the base is current, until the first word of an answer by it, and until its end."""
    snapshots = session.household.snapshots
    newest, base = snapshots.list()[0], snapshots.get("v0")
    await session.engine.adopt(newest.digest, lambda: snapshots.rollback("benchmark", "a round", to=newest.id))
    await _answered(session, f"Before the rollback, round {number}: what is a boat?", newest.id)
    # The newest is the first of the list, the base the last.
    await pilot.press("end")
    began = time.perf_counter()
    await pilot.press("v")
    await _until(lambda: snapshots.current().id == base.id, plan)
    moved = time.perf_counter() - began
    first, end = await _answered(session, f"After the rollback, round {number}: what is a house?", base.id)
    return moved, first - began, end - began


async def _answered(session: Session, question: str, snapshot: str) -> tuple[float, float]:
    """When its first word came, and its end. Raises MeasurementFailed where another snapshot answered, or none."""
    first = 0.0
    async with aclosing(session.assistant().ask(question)) as events:
        async for event in events:
            match event:
                case Started() if event.snapshot != snapshot:
                    raise MeasurementFailed(f"{event.snapshot} answered, not {snapshot}.")
                case Token():
                    first = first or time.perf_counter()
                case Done():
                    return first or time.perf_counter(), time.perf_counter()
                case Failed():
                    raise MeasurementFailed(f"There was no answer: {event.error}")
    raise MeasurementFailed("There was no answer.")


async def _until(condition: Callable[[], bool], plan: Plan) -> None:
    """Wait until ``condition()``. Raises MeasurementFailed after the time that a request may take."""
    begun = time.perf_counter()
    while not condition():
        if time.perf_counter() - begun > plan.engine.timeout_s:
            raise MeasurementFailed("The interface did not do what its key asks for.")
        await asyncio.sleep(POLL_S)
