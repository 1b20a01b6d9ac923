"""The stages there are: functions from typed artifacts to one. Importing them imports neither torch nor llama.cpp.

What a stage takes and gives is what its function is annotated with: there is no second list of it. Each imports its
work when it is called, in the process that carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_type_hints

from trainer.pipeline.artifacts import (
    Adapter,
    Artifact,
    BaseWeights,
    Beginning,
    EvaluationReport,
    PreferencePairs,
    ServedWeights,
    TrainingData,
    TrialScore,
)

if TYPE_CHECKING:
    from trainer.stages.context import StageContext

# How much is lost where what a stage made has to be made again.
Cost = Literal["cheap", "medium", "expensive"]


@dataclass(frozen=True)
class Stage:
    """``takes``: its arguments beside the context; ``file``: what it leaves, in its own folder of the run."""

    name: str
    function: Callable[..., Artifact]
    takes: Mapping[str, type[Artifact]]
    gives: type[Artifact]
    cost: Cost
    file: str


def stage(function: Callable[..., Artifact], cost: Cost, file: str) -> Stage:
    """The stage that a function is, by its name and annotations."""
    # The context is no artifact, and its module loads llama.cpp.
    hints = get_type_hints(function, localns={"StageContext": Any})
    gives = hints.pop("return")
    return Stage(
        name=function.__name__,
        function=function,
        takes={name: hint for name, hint in hints.items() if name != "context"},
        gives=gives,
        cost=cost,
        file=file,
    )


def prepare(context: StageContext, pairs: PreferencePairs, base: BaseWeights) -> TrainingData:
    """Lessons and prompts become tokens."""
    from trainer.stages.prepare import prepare as work

    return work(context, pairs, base)


def train(context: StageContext, data: TrainingData, base: BaseWeights, begun: Beginning) -> Adapter:
    """The adapter is trained."""
    from trainer.stages.train import train_adapter

    return train_adapter(context, data, base, begun)


def export(
    context: StageContext, adapter: Adapter, data: TrainingData, pairs: PreferencePairs, base: BaseWeights
) -> ServedWeights:
    """The adapter is written for llama.cpp and held against what was trained."""
    from trainer.stages.export import export_adapter

    return export_adapter(context, adapter, data, pairs, base)


def evaluate(
    context: StageContext,
    candidate: ServedWeights,
    current: ServedWeights,
    data: TrainingData,
    pairs: PreferencePairs,
    base: BaseWeights,
) -> EvaluationReport:
    """What the candidate does, beside what answers now."""
    from trainer.stages.evaluate import evaluate as work

    return work(context, candidate, current, data, pairs, base)


def score(
    context: StageContext, candidate: ServedWeights, data: TrainingData, pairs: PreferencePairs, base: BaseWeights
) -> TrialScore:
    """How good a training is beside others of the same run."""
    from trainer.stages.score import score as work

    return work(context, candidate, data, pairs, base)


STAGES: Final[Mapping[str, Stage]] = {
    each.name: each
    for each in (
        stage(prepare, "cheap", "data.json"),
        stage(train, "expensive", "adapter.safetensors"),
        stage(export, "cheap", "adapter.gguf"),
        stage(evaluate, "medium", "measures.json"),
        stage(score, "medium", "score.json"),
    )
}
