"""What a training run does, as it does it: one JSON object a line in ``events.jsonl``. Files only, no database.

A worker may be killed at any instant, so a line counts when its end of line is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "events.jsonl"


@dataclass(frozen=True)
class RunEvent:
    """``time``: seconds since 1970; ``fraction``: how much of the run is done, 0 to 1, if known.

    Kinds and their facts: run_started {run, recipe, who}; planned {stages: those there will be}; taken_up {run: the one
    that was interrupted}; stage_started; stage_restarted {stage, status, log}; stage_skipped {stage, run: the one that
    made the same}, after what the stage told there; paused {who}; resumed; progress; step {loss, step, steps, …};
    measure {name, …}; stage_done {seconds, with those in which it was held, …}; verdict {decision "SHIP" | "HOLD",
    checks [{name, value, bound, at_least, ok}], reasons}; promoted {snapshot}; run_failed {code, facts}; run_done
    {decision, snapshot}; later perhaps lessons_withdrawn {lessons}, whose words were taken out.
    Of what it takes: reckoned {flops, seconds, joules, measured, drawn} before its first stage; stage_took {seconds,
    paused, energy {joules, estimated, sources}} after each; took, the same of the whole run, before it ends.
    Where other numbers are tried, choice_started {learning_rate, epochs, rank, folder}; choice_done {learning_rate,
    epochs, rank, right, nats, unrelated_kl, seconds, code, best: of those so far}; then what the stages of the chosen
    one told, which were those of another folder.
    Of a search for the lesson for which a run was held: run_started {…, blamed, reasons}; suspect {lesson, …}, the
    likeliest first; trial_started {folder, without}; trial_done {without, passed, reasons, checks, seconds}; run_done
    {lessons, complete}. Of a training that is done again: run_done {reproduced, first, stages, measures, otherwise}.
    Of a model of one's own: begun {step, steps, parameters}; step {loss, gradient_norm, tokens_per_second, …};
    validation {step, loss, bits_per_byte}; sample {step, prompt, text}; checkpoint {step}; checkpoint_failed
    {step, path, reason}; went_back {step, to, loss, usual, times, most}; stopped; trained; ended {end, peak_bytes}.
    A line that a crash tore reads as kind "unreadable" {line}.
    """

    time: float
    kind: str
    stage: str = ""
    fraction: float | None = None
    facts: Mapping[str, Any] | None = None


def append(run_dir: Path, event: RunEvent) -> None:
    """Add an event; when this returns, readers see it. Raises OSError."""
    line = json.dumps(
        {
            "time": event.time,
            "kind": event.kind,
            "stage": event.stage,
            "fraction": event.fraction,
            "facts": dict(event.facts or {}),
        }
    )
    with (run_dir / FILE).open("ab+") as file:
        torn = file.tell() > 0 and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
        # One write: O_APPEND keeps the lines of two processes apart.
        file.write((b"\n" if torn else b"") + line.encode() + b"\n")


def read(run_dir: Path, offset: int = 0) -> tuple[list[RunEvent], int]:
    """The events from byte ``offset`` on and the offset to go on from. A run that wrote nothing has none."""
    try:
        with (run_dir / FILE).open("rb") as file:
            file.seek(offset)
            content = file.read()
    except FileNotFoundError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    return [_event(line) for line in whole.split(b"\n")[:-1]], offset + len(whole)


def _event(line: bytes) -> RunEvent:
    try:
        value = json.loads(line)
        return RunEvent(
            float(value["time"]), str(value["kind"]), str(value["stage"]), value["fraction"], value["facts"]
        )
    except (ValueError, KeyError, TypeError):
        return RunEvent(0.0, "unreadable", facts={"line": line.decode("utf-8", "replace")})
