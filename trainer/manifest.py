"""A run's manifest: all that it depends on, and what came of it, in one file that says how to do it again.

Before a run it is what is planned. In a run's folder it is written last, so that its existence means complete; a run
that failed leaves ``manifest.partial.yaml`` instead, with the stage that did and all that follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from trainer.energy.energy import energy_of
from trainer.gate import Verdict
from trainer.lessons import TrainingLesson
from trainer.pipeline.artifacts import digest_of, digest_of_json, stored_as
from trainer.pipeline.estimate import flops_of
from trainer.pipeline.keys import NO_MATTER, code_version, commit, key_of
from trainer.pipeline.sources import graph_for, taken_by
from trainer.room import write_whole
from trainer.run_files import Inputs, RunFiles, read_json, versions

FORMAT: Final = 2
PIPELINE: Final = 1  # changes where the same manifest would mean another run
# What two manifests have in common that ask for the same.
ASKED: Final = (
    "pipeline", "code", "versions", "seed", "recipe", "base", "current", "onward", "member", "beneath", "lessons",
    "known", "ratings", "dropped", "training", "gate", "engine", "system_prompt",
)  # fmt: skip
# Of the settings, what decides when a training begins and what is done after it, and what has a place of its own here.
APART: Final = ("night", "blame", "gate", "seed", "recipe", "recipes")

# What reports say in the family's words, of each lesson, or by a clock that nobody else has: of a stage whose
# supervisor was killed before it could say what that stage took.
WORDS: Final = ("dropped", "lesson_losses", "began")


def planned(inputs: Inputs) -> dict[str, Any]:
    """The manifest of a run that starts from these, before anything of it is done."""
    training = inputs.training.model_dump(mode="json")
    flops = flops_of(inputs)
    return {
        "format": FORMAT,
        "pipeline": PIPELINE,
        "commit": commit(),
        "code": code_version(),
        "versions": versions(),
        "seed": inputs.seed,
        "recipe": {"name": inputs.recipe_name, **inputs.recipe.model_dump(mode="json")},
        "base": {"name": inputs.base_name, "sha256": inputs.base_sha256},
        "current": {"id": inputs.current, "adapters": _adapters(inputs.current_adapters)},
        "onward": inputs.onward and {**inputs.onward.as_json(), "adapter": stored_as(inputs.onward.adapter)},
        "member": inputs.member,
        "beneath": _adapters(inputs.beneath),
        "lessons": _lessons(inputs.lessons),
        "known": _lessons(inputs.known),
        "ratings": [{"id": each.id, "sha256": digest_of_json(each.as_json())} for each in inputs.ratings],
        # Their questions are the family's words, which no manifest holds.
        "dropped": [{"id": each.id, "reason": each.reason, "by": each.by} for each in inputs.dropped],
        "training": {key: value for key, value in training.items() if key not in APART},
        "gate": training["gate"],
        "engine": inputs.engine.model_dump(mode="json"),
        "system_prompt": inputs.system_prompt,
        "stages": {
            step.name: {
                "takes": dict(step.takes),
                "gives": step.stage.gives.__name__,
                "cost": step.stage.cost,
                "flops": flops[step.name],
            }
            for step in graph_for(inputs).steps
            if step.name in inputs.stages
        },
    }


def identity(manifest: Mapping[str, Any]) -> str:
    """The digest of all that a manifest asks for, whatever came of it."""
    asked = {key: manifest.get(key) for key in ASKED}
    # How long something may take changes nothing of what it is.
    training = {key: value for key, value in (asked["training"] or {}).items() if key not in NO_MATTER}
    stages = {name: told["takes"] for name, told in manifest["stages"].items()}
    return digest_of_json({**asked, "training": training, "stages": stages})


def write_manifest(
    files: RunFiles,
    inputs: Inputs,
    measures: Mapping[str, Any],
    baseline: Mapping[str, Any],
    verdict: Verdict,
    snapshot: str | None,
) -> dict[str, Any]:
    """Write ``manifest.yaml``; what it says. ``snapshot``: the name of what was promoted, if anything was.

    Raises NoRoom, ArtifactChanged, TrainingDataBroken.
    """
    manifest = planned(inputs) | {"run": inputs.run}
    reports = _with_reports(manifest, files, inputs)
    manifest |= {
        "artifacts": {
            str(path.relative_to(files.folder)): digest_of(path)
            for path in (files.inputs, files.data, files.weights, files.adapter, files.measures)
        },
        "measures": dict(measures),
        "intervals": read_json(files.measures)["intervals"],
        "baseline": dict(baseline),
        "verdict": verdict.as_json(),
        "snapshot": snapshot,
        "seconds": sum(report["seconds"] for report in reports),
        "paused": sum(report.get("paused", 0.0) for report in reports),
        "energy": energy_of(reports, inputs.training.estimate.watts).as_json(),
        "peak_bytes": max(report["peak_bytes"] for report in reports),
    }
    _write(files.manifest, manifest)
    files.partial_manifest.unlink(missing_ok=True)
    return manifest


def write_partial(files: RunFiles, inputs: Inputs, code: str) -> None:
    """What is left of a run that ended with error ``code``: what was done, what failed, and what follows from that.

    Raises NoRoom, ArtifactChanged, TrainingDataBroken.
    """
    graph = graph_for(inputs)
    manifest = planned(inputs) | {"run": inputs.run}
    _with_reports(manifest, files, inputs)
    undone = [name for name in graph.names if name in inputs.stages and not files.report(name).is_file()]
    failed = undone[0] if undone else None
    invalid = graph.made_invalid_by(failed) if failed else ()
    manifest["failed"] = {"stage": failed, "code": code, "invalid": [name for name in invalid if name in inputs.stages]}
    _write(files.partial_manifest, manifest)


def _with_reports(manifest: dict[str, Any], files: RunFiles, inputs: Inputs) -> list[dict[str, Any]]:
    """Put what each stage that is done took and left into the manifest; what those stages say of themselves."""
    reports = []
    for step in graph_for(inputs).steps:
        if step.name in manifest["stages"] and files.report(step.name).is_file():
            report = read_json(files.report(step.name))
            takes = {name: artifact.sha256 for name, artifact in taken_by(step, files, inputs).items()}
            told = {key: value for key, value in report.items() if key not in WORDS}
            manifest["stages"][step.name] |= {"input": key_of(step, inputs, takes), **told}
            reports.append(report)
    return reports


def lesson_digest(lesson: TrainingLesson) -> str:
    """The SHA-256 of all that a lesson teaches."""
    return digest_of_json(lesson.as_json())


def _lessons(lessons: tuple[TrainingLesson, ...]) -> list[dict[str, str]]:
    return [{"id": lesson.id, "sha256": lesson_digest(lesson)} for lesson in lessons]


def _adapters(adapters: Any) -> list[dict[str, Any]]:
    return [{"sha256": stored_as(each.path), "scale": each.scale} for each in adapters]


def _write(path: Path, manifest: Mapping[str, Any]) -> None:
    write_whole(path, as_yaml(manifest).encode())


def as_yaml(manifest: Mapping[str, Any]) -> str:
    """A manifest as its file has it."""
    return yaml.safe_dump(dict(manifest), allow_unicode=True, sort_keys=False)
