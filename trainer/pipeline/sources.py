"""Where the artifacts of a run come from: what it starts from, and what the stages before have left in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from engine.served import AdapterFile
from trainer.errors import TrainingDataBroken
from trainer.pipeline.artifacts import (
    Artifact,
    BaseWeights,
    Beginning,
    PreferencePairs,
    ServedWeights,
    StageFile,
    check_unchanged,
    combined,
    digest_of,
    digest_of_json,
    stored_as,
)
from trainer.pipeline.graph import Graph, Step, graph_of
from trainer.pipeline.stages import STAGES, Stage
from trainer.pipeline.usual import SCORED
from trainer.run_files import Inputs, RunFiles, read_json

# What every run starts from.
SOURCES: Final[Mapping[str, type[Artifact]]] = {
    "pairs": PreferencePairs,
    "base": BaseWeights,
    "current": ServedWeights,
    "begun": Beginning,
}


def graph_for(inputs: Inputs) -> Graph:
    """The graph of a run, and the comparison of trainings that it may need beside that.

    Raises RecipeKeyUnknown, InputMissing, InputMismatch, GraphCyclic.
    """
    comparable = {source for takes in SCORED.values() for source in takes.values()} - SOURCES.keys()
    beside = SCORED if comparable <= inputs.stages.keys() else {}
    return graph_of({**beside, **inputs.stages}, STAGES, SOURCES, inputs.recipe_name)


def order_of(inputs: Inputs) -> tuple[str, ...]:
    """The stages of a run, each after what it takes. Raises what ``graph_for`` does."""
    return tuple(name for name in graph_for(inputs).names if name in inputs.stages)


def pairs_of(inputs: Inputs) -> PreferencePairs:
    """The lessons and ratings of a run."""
    told = [
        [each.as_json() for each in inputs.lessons],
        [each.as_json() for each in inputs.known],
        [each.as_json() for each in inputs.ratings],
        [asdict(each) for each in inputs.dropped],
    ]
    return PreferencePairs(
        sha256=digest_of_json(told),
        lessons=inputs.lessons,
        known=inputs.known,
        ratings=inputs.ratings,
        dropped=inputs.dropped,
    )


def base_of(inputs: Inputs) -> BaseWeights:
    """What a run trains over."""
    digest = combined(inputs.base_sha256, inputs.beneath)
    return BaseWeights(sha256=digest, path=inputs.base, adapters=inputs.beneath)


def current_of(inputs: Inputs) -> ServedWeights:
    """What answers while a run trains."""
    digest = combined(inputs.base_sha256, inputs.current_adapters)
    return ServedWeights(sha256=digest, adapters=inputs.current_adapters)


def begun_of(inputs: Inputs) -> Beginning:
    """What a run goes on from: of which adapter, with which lessons learned."""
    onward = inputs.onward
    told = onward and [stored_as(onward.adapter), sorted(onward.learned)]
    return Beginning(sha256=digest_of_json(told), onward=onward)


def sources_of(inputs: Inputs) -> dict[str, Artifact]:
    """By the names of ``SOURCES``."""
    return {
        "pairs": pairs_of(inputs),
        "base": base_of(inputs),
        "current": current_of(inputs),
        "begun": begun_of(inputs),
    }


def taken_by(step: Step, files: RunFiles, inputs: Inputs) -> dict[str, Artifact]:
    """What a step takes, by its arguments.

    Raises ArtifactChanged where what an earlier stage left is not what it said, and TrainingDataBroken where it is not
    there.
    """
    sources = sources_of(inputs)
    return {
        argument: sources[source] if source in sources else left_by(STAGES[source], files)
        for argument, source in step.takes.items()
    }


def left_by(stage: Stage, files: RunFiles) -> Artifact:
    """What a stage has left in a run's folder. Raises ArtifactChanged, TrainingDataBroken."""
    path = files.stage(stage.name) / stage.file
    try:
        artifact = _artifact(stage.gives, path)
    except OSError as error:
        raise TrainingDataBroken(path=str(path), line=0, reason=error.strerror or str(error)) from error
    if files.report(stage.name).is_file():
        check_unchanged(stage.name, artifact, read_json(files.report(stage.name)))
    return artifact


def _artifact(kind: type[Artifact], path: Path) -> Artifact:
    if issubclass(kind, StageFile):
        return kind.at(path)
    return ServedWeights(sha256=digest_of(path), adapters=(AdapterFile(path, 1.0),))
