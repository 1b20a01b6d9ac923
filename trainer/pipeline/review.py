"""The reviewer of manifests: everything for which one must not be run, each reason with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from configs.errors import EnlaceError, Fact
from configs.sections.budget import BudgetSettings
from configs.sections.training import TrainingSettings
from trainer.budgets import too_much
from trainer.contamination import TrainedTexts
from trainer.everyday import PAGES, page, read_prompts
from trainer.pipeline.artifacts import EvaluationReport
from trainer.pipeline.estimate import Estimate
from trainer.pipeline.graph import graph_of
from trainer.pipeline.loosened import loosened
from trainer.pipeline.resolving import Resolved, kl_bound
from trainer.pipeline.sources import SOURCES
from trainer.pipeline.stages import STAGES
from trainer.run_files import Inputs
from trainer.teaching.rows import rows_of, unseen_wordings
from trainer.wordings.language import wording_key


@dataclass(frozen=True)
class Reason:
    """Why a manifest is refused. ``code``: no_gate, kl_unbounded, bound_loosened, evaluation_in_training, stale,
    nothing_judged, or that of an error, as run_too_long.
    """

    code: str
    facts: Mapping[str, Fact]

    def as_json(self) -> dict[str, Any]:
        """For the plan that is told."""
        return {"code": self.code, "facts": dict(self.facts)}


def reasons_against(found: Resolved, file: str, household: TrainingSettings) -> list[Reason]:
    """All but what it takes, the gravest first; none for a manifest that may be run where that fits.

    ``household``: its own settings, whose bounds and budgets nobody's file may widen: what comes of a run answers
    everybody, and takes what is everybody's.
    """
    reasons = [*_gate(found.manifest), *_graph(found, file)]
    reasons += [Reason("bound_loosened", each.facts) for each in loosened(found.settings.training, household)]
    if found.inputs is not None:
        reasons += _contaminated(found.inputs)
    reasons += [Reason("stale", stale.facts) for stale in found.stale]
    return reasons


def over_budget(reckoned: Iterable[Estimate], budget: BudgetSettings) -> list[Reason]:
    """Whether what is still to be done takes more time or energy than it may."""
    return [Reason(error.code, error.facts) for error in too_much(reckoned, budget)]


def _gate(manifest: Mapping[str, Any]) -> Iterator[Reason]:
    gate = manifest.get("gate")
    if not isinstance(gate, Mapping) or not gate:
        yield Reason("no_gate", {})
        return
    if kl_bound(manifest) is None:
        yield Reason("kl_unbounded", {})


def _graph(found: Resolved, file: str) -> Iterator[Reason]:
    try:
        graph = graph_of(found.stages, STAGES, SOURCES, file)
    except EnlaceError as error:
        yield Reason(error.code, error.facts)
        return
    if not any(issubclass(step.stage.gives, EvaluationReport) for step in graph.steps):
        yield Reason("nothing_judged", {})


def _contaminated(inputs: Inputs) -> Iterator[Reason]:
    """What is measured and trained as well, by the gate's own rule (``trainer.contamination``).

    A request that the family has taught is left out of what is measured, as long as another is left.
    """
    rows = rows_of(inputs.lessons, inputs.recipe)
    replayed = read_prompts("replay")[: inputs.recipe.replay.prompts]
    told = [(each.messages, answer) for each in (*rows.asked, *rows.more) for answer in (each.chosen, each.rejected)]
    told += [(each.messages, each.answer) for each in inputs.ratings]
    pairs = [("\n".join(message.content for message in messages), answer) for messages, answer in told]
    trained = TrainedTexts([*pairs, *((prompt, "") for prompt in replayed)])
    count = inputs.training.evaluation.held_out_wordings
    held_out = unseen_wordings([*inputs.lessons, *inputs.known], (*rows.asked, *rows.more), count)
    keys = {wording_key(prompt) for prompt in replayed}
    same = [text for texts in held_out.values() for text in texts if wording_key(text) in keys]
    same += [name for name in PAGES if trained.overlaps(page(name))[0]]
    unrelated = read_prompts("unrelated")[: inputs.training.evaluation.unrelated_prompts]
    if all(trained.overlaps(prompt)[0] for prompt in unrelated):
        same += unrelated
    if same:
        yield Reason("evaluation_in_training", {"number": len(same), "first": same[0]})
