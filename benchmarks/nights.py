"""Nights in a row of ten corrections each: how many of all are kept, what else moves, how long a night takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import MeasurementFailed
from benchmarks.harness import progress
from benchmarks.homes import enlace, temporary_home
from benchmarks.learned import Learned, learned, lines, question_of
from benchmarks.one_training import Training, train_now
from benchmarks.plan import Plan
from benchmarks.processes import run
from benchmarks.recipe import DATA
from benchmarks.rows import Row, row

# Seventy lessons in TRL's form, each with two other wordings of its question under ``paraphrases``.
LESSONS = DATA / "nights70.jsonl"
A_NIGHT = 10
KEPT, KL, EQUIVALENT = 0.9, 0.03, 0.98
# Of the first night's time: what a night may take at most.
FLAT = 1.25


@dataclass(frozen=True)
class Night:
    """One night, and what the family was served after it: what it trained, or, where it was held, what was before."""

    training: Training
    learned: Learned


def nights(plan: Plan) -> list[Row]:
    """What became of everything that was taught, how far all else moved, and the time of the nights."""
    count = plan.learning.nights
    if not count:
        progress("nights in a row take hours: they are left out of the quick plan.")
        return []
    passed = _passed(lines(LESSONS)[: count * A_NIGHT], plan.learning.night_timeout_s)
    trainings, found = [night.training for night in passed], [night.learned for night in passed]
    last = found[-1]

    def each(of: Callable[[Learned], float]) -> str:
        return "After each night: " + ", ".join(f"{of(night):.3g}" for night in found) + "."

    times = ", ".join(f"{training.seconds:.0f} s {training.decision}" for training in trainings)
    return [
        row(f"{count} nights of {A_NIGHT} lessons, kept", last.reliability, "share", bound=KEPT, bound_on="value",
            better="higher", note=f"{each(lambda night: night.reliability)} Wrong: {' | '.join(last.wrong)}"),
        row("nights, fewest kept after any", min(night.reliability for night in found), "share", bound=KEPT,
            bound_on="value", better="higher"),
        row("nights, other wordings right", last.generalisation, "share", better="higher",
            note=each(lambda night: night.generalisation)),
        row("nights, KL elsewhere, most", max(night.kl for night in found), "nats/token", bound=KL, bound_on="value",
            note=each(lambda night: night.kl)),
        row("nights, unrelated answers equivalent, fewest", min(night.locality for night in found), "share",
            bound=EQUIVALENT, bound_on="value", better="higher", note=each(lambda night: night.locality)),
        row("nights, known answers lost, most", max(night.canaries_lost for night in found), "answers",
            note=f"Of the {last.canaries} that the base answers right."),
        row("nights, longest over the first", max(training.seconds for training in trainings) / trainings[0].seconds,
            "times", bound=FLAT, bound_on="value", note=f"From command to verdict: {times}."),
        row("nights, peak memory of a stage", max(training.peak_bytes for training in trainings) / 2**20, "MiB"),
    ]  # fmt: skip


def _passed(lessons: Sequence[dict[str, Any]], limit: float) -> list[Night]:
    """Teach them night after night in one home. Raises MeasurementFailed."""
    others = {question_of(lesson): lesson["paraphrases"] for lesson in lessons}
    passed: list[Night] = []
    with temporary_home() as home:
        given = Path(home["ENLACE_HOME"]) / "lessons.jsonl"
        for taught in range(A_NIGHT, len(lessons) + 1, A_NIGHT):
            tonight = (json.dumps(lesson, ensure_ascii=False) + "\n" for lesson in lessons[taught - A_NIGHT : taught])
            given.write_text("".join(tonight), encoding="utf-8")
            run(enlace("lessons", "import", str(given)), home, timeout=limit)
            run(enlace("engine", "start"), home, timeout=limit)
            training = train_now(home, limit)
            shipped = [each.training for each in passed if each.training.decision == "SHIP"]
            shipped += [training] if training.decision == "SHIP" else []
            if not shipped:
                raise MeasurementFailed("The first night was held: nothing was learned.")
            progress(f"{taught} lessons: {training.decision} after {training.seconds:.0f} s; asking …")
            found = learned(shipped[-1].folder, lessons[:taught], others)
            progress(f"kept {found.reliability:.3f}, other wordings {found.generalisation:.3f}, KL {found.kl:.4f}")
            passed.append(Night(training, found))
    return passed
