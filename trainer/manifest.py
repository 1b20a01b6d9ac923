"""A run's manifest: what it depended on and what came of it. Written last, so that its existence means complete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import yaml

from trainer.gate import Verdict
from trainer.lessons import TrainingLesson
from trainer.plan import STAGES
from trainer.run_files import Inputs, RunFiles, read_json, versions, write_whole

FORMAT = 1


def write_manifest(
    files: RunFiles,
    inputs: Inputs,
    measures: Mapping[str, Any],
    baseline: Mapping[str, Any],
    verdict: Verdict,
    snapshot: str | None,
) -> None:
    """Write ``manifest.yaml``; ``snapshot``: the name of what was promoted, if anything was. Raises NoRoom."""
    reports = {stage: read_json(files.report(stage)) for stage in STAGES}
    manifest = {
        "format": FORMAT,
        "run": inputs.run,
        "seed": inputs.seed,
        "base": {"name": inputs.base_name, "sha256": inputs.base_sha256},
        "from_snapshot": inputs.current,
        "onward": inputs.onward and inputs.onward.as_json(),
        "recipe": {"name": inputs.recipe_name, **inputs.recipe.model_dump()},
        "lessons": [{"id": lesson.id, "sha256": lesson_digest(lesson)} for lesson in inputs.lessons],
        "ratings": [{"id": rating.id, "sha256": _taught(rating.as_json())} for rating in inputs.ratings],
        "versions": versions(),
        "stages": reports,
        "artifacts": {
            str(path.relative_to(files.folder)): _digest(path.read_bytes())
            for path in (files.inputs, files.data, files.weights, files.adapter, files.measures)
        },
        "measures": dict(measures),
        "baseline": dict(baseline),
        "gate": verdict.as_json(),
        "snapshot": snapshot,
        "seconds": sum(report["seconds"] for report in reports.values()),
        "peak_bytes": max(report["peak_bytes"] for report in reports.values()),
    }
    write_whole(files.manifest, yaml.safe_dump(manifest, allow_unicode=True, sort_keys=False).encode())


def lesson_digest(lesson: TrainingLesson) -> str:
    """The SHA-256 of all that a lesson teaches."""
    return _taught(lesson.as_json())


def _taught(value: Mapping[str, Any]) -> str:
    return _digest(json.dumps(value, ensure_ascii=False, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
