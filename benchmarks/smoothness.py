"""Event-loop delays while a long answer streams and a person types, in a real terminal."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment
from benchmarks.measures import percentile
from benchmarks.plan import InterfacePlan, Plan
from benchmarks.pseudo_terminal import Terminal
from benchmarks.rows import Row, row
from benchmarks.streaming_app import READY, SIDES

P95_BOUND_MS = 50.0
PEER = "Textual's Markdown stream"
TYPED = "¿y qué hago yo si no hay sol en la terraza? "


def streaming(plan: Plan) -> list[Row]:
    """Median, 95th percentile and worst delay in milliseconds, beside Textual's own streaming Markdown widget."""
    ours, theirs = SIDES
    mine = delays_of(ours, plan.interface)
    notes = [_told("Enlace", mine)]
    other: dict[str, Any] | None = None
    with without_peer(notes):
        other = _peers_delays(theirs, plan.interface)
        notes.append(_told(PEER, other))
    notes.append(f"{plan.interface.preloaded} of {plan.interface.characters} characters stood there before.")
    return [
        row(
            f"event-loop delay while streaming, {name}",
            percentile(mine["delays"], share) * 1000,
            "ms",
            peer=PEER,
            peer_value=percentile(other["delays"], share) * 1000 if other else None,
            bound=P95_BOUND_MS if share == 0.95 else None,
            bound_on="value",
            samples=len(mine["delays"]),
            note=" ".join(notes) if share == 0.95 else "",
        )
        for name, share in (("median", 0.5), ("95 %", 0.95), ("worst", 1.0))
    ]


def _told(name: str, measured: dict[str, Any]) -> str:
    return f"{name}: {measured['seconds']:.0f} s, {len(measured['delays'])} ticks, {measured['typed']} keys."


def _peers_delays(side: str, plan: InterfacePlan) -> dict[str, Any]:
    try:
        return delays_of(side, plan)
    except MeasurementFailed as error:
        raise PeerMissing(f"{PEER} did not get to the end. {error}") from error


def delays_of(side: str, plan: InterfacePlan) -> dict[str, Any]:
    """What one side reports, with somebody typing all along. Raises MeasurementFailed."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        report = Path(folder) / "report.json"
        numbers = (str(plan.characters), str(plan.preloaded))
        command = [sys.executable, "-m", "benchmarks.streaming_app", side, *numbers, str(report)]
        with Terminal(command, clean_environment() | {"ENLACE_HOME": folder}) as terminal:
            terminal.wait_for(READY[1:], plan.timeout_s)
            deadline = time.monotonic() + plan.timeout_s
            keys = itertools.cycle(TYPED)
            next_key = time.monotonic()
            while not report.exists():
                if time.monotonic() > deadline or not terminal.read(max(next_key - time.monotonic(), 0)):
                    break
                if time.monotonic() >= next_key:
                    terminal.type(next(keys))
                    next_key += 1 / plan.keys_per_second
            if not report.exists():
                time.sleep(0.2)
            if not report.exists():
                raise MeasurementFailed(f"The side {side} did not finish its answer: {terminal.shown()[-600:]}")
        measured: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return measured
