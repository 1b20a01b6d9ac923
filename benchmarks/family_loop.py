"""The whole loop over 24 lessons: import, ``enlace train now``, and what the new weights answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.errors import MeasurementFailed
from benchmarks.harness import progress
from benchmarks.homes import enlace, temporary_home
from benchmarks.plan import Plan
from benchmarks.processes import Finished, run
from benchmarks.recipe import DATA
from benchmarks.rows import Row, row
from trainer.matching import says_the_same

LESSONS = DATA / "lessons24.jsonl"
PARAPHRASES = DATA / "paraphrases24.jsonl"
RIGHT_BOUND = 20
HELD = 3


def loop(plan: Plan) -> list[Row]:
    """Time of the training up to its verdict, lessons right of 24, paraphrases right, KL elsewhere, peak memory."""
    if not plan.learning.loop:
        progress("the loop takes minutes: it is left out of the quick plan.")
        return []
    limit = plan.learning.timeout_s
    lessons = _lines(LESSONS)
    paraphrases = {line["question"]: line["paraphrases"] for line in _lines(PARAPHRASES)}
    with temporary_home() as home:
        run(enlace("lessons", "import", str(LESSONS)), home, timeout=limit)
        run(enlace("engine", "start"), home, timeout=limit)
        trained = _trained(home, limit)
        verdict = _verdict(trained.output)
        facts = _stage_reports(Path(home["ENLACE_HOME"]))
        progress(f"the gate says {verdict['decision']}; asking …")
        right = sum(_right(home, lesson, _question(lesson), limit) for lesson in lessons)
        others = [(lesson, other) for lesson in lessons for other in paraphrases.get(_question(lesson), ())]
        right_others = sum(_right(home, lesson, other, limit) for lesson, other in others)
    checks = {check["name"]: check for check in verdict["checks"]}
    kl = checks["unrelated_kl"]
    measured = (f"{name} {check['value']:.3g}" for name, check in checks.items() if check["value"] is not None)
    note = f"{verdict['decision']}. " + ", ".join(measured)
    return [
        row("24 lessons, from command to verdict", trained.seconds, "s", note=note),
        row("24 lessons, peak memory of a stage", max(facts) / 2**20, "MiB"),
        row("24 lessons, answered right", right, "of 24", bound=RIGHT_BOUND, bound_on="value", better="higher"),
        row("24 lessons, other wordings right", right_others, f"of {len(others)}", better="higher"),
        row("24 lessons, KL elsewhere", kl["value"], "nats/token", bound=kl["bound"], bound_on="value"),
    ]


def _trained(home: dict[str, str], limit: float) -> Finished:
    """``enlace train now`` to its end; one that is left running, a process of its own, is stopped."""
    try:
        return run(enlace("train", "now", "--json"), home, timeout=limit, accepted=(0, HELD))
    except BaseException:
        subprocess.run(enlace("train", "stop"), env=home, capture_output=True, timeout=limit, check=False)
        raise


def _right(home: dict[str, str], lesson: dict[str, Any], question: str, limit: float) -> bool:
    """Whether the weights alone, without recall, answer with the corrected content."""
    asked = run(enlace("ask", "--no-memory", "--temperature", "0", "--json", question), home, timeout=limit)
    return says_the_same(
        json.loads(asked.output)["answer"],
        question=question,
        chosen=lesson["chosen"][0]["content"],
        rejected=lesson["rejected"][0]["content"],
    )


def _question(lesson: dict[str, Any]) -> str:
    return str(lesson["prompt"][-1]["content"])


def _verdict(output: str) -> dict[str, Any]:
    """The gate's verdict in what ``train now --json`` printed. Raises MeasurementFailed."""
    verdict = json.loads(output).get("verdict")
    if not verdict:
        raise MeasurementFailed(f"The training ended without a verdict: {output[:400]}")
    return dict(verdict)


def _stage_reports(home: Path) -> list[int]:
    """Peak bytes of every stage of the run. Raises MeasurementFailed."""
    reports = list(home.glob("runs/*/*/report.json"))
    if not reports:
        raise MeasurementFailed("The training left no report of its stages.")
    return [int(json.loads(report.read_text(encoding="utf-8"))["peak_bytes"]) for report in reports]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
