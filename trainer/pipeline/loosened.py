"""Where a file asks for less of a training than the household does, or gives it more: wider bounds, fewer answers
measured, or more time and energy than a training may take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from configs.errors import Fact
from configs.sections.budget import BudgetSettings
from configs.sections.judging import EvaluationSettings, GateSettings
from configs.sections.training import TrainingSettings
from trainer.gate import judge

# The more of these is measured, the more the bounds mean.
SIZES: Final = (
    "held_out_wordings", "other_language", "unrelated_prompts", "known_questions", "form_prompts", "answer_tokens",
    "page_tokens", "parity_answers",
)  # fmt: skip
# What a training may take at most. What its parts wait for, or how often they look, lets through nothing.
BUDGETS: Final = ("run_seconds", "run_watt_hours")


@dataclass(frozen=True)
class Loosened:
    """``key`` in the section ``training``, its ``value`` in the file, and the one that the ``household`` has set."""

    key: str
    value: float | str
    household: float | str

    @property
    def facts(self) -> dict[str, Fact]:
        return {"key": self.key, "value": self.value, "household": self.household}


def loosened(asked: TrainingSettings, household: TrainingSettings) -> list[Loosened]:
    """Each setting by which ``asked`` lets through what ``household`` would hold, or would not begin or end; none where
    it is as strict.
    """
    found = [*_gate(asked.gate, household.gate), *_evaluation(asked.evaluation, household.evaluation)]
    found += _budget(asked.budget, household.budget)
    # One setting may bound several measures.
    return list(dict.fromkeys(found))


def _gate(asked: GateSettings, household: GateSettings) -> Iterator[Loosened]:
    # The gate's own list says which bounds are least and which most values.
    for mine, theirs in zip(judge({}, asked).checks, judge({}, household).checks, strict=True):
        if mine.bound < theirs.bound if mine.at_least else mine.bound > theirs.bound:
            key = next(name for name in GateSettings.model_fields if mine.name.startswith(name))
            yield Loosened(f"gate.{key}", mine.bound, theirs.bound)
    if household.undecided != "hold":
        return
    if asked.undecided != "hold":
        yield Loosened("gate.undecided", asked.undecided, household.undecided)
    # The surer it has to be, the wider the intervals, and the more of them hold.
    if asked.confidence < household.confidence:
        yield Loosened("gate.confidence", asked.confidence, household.confidence)


def _evaluation(asked: EvaluationSettings, household: EvaluationSettings) -> Iterator[Loosened]:
    for name in SIZES:
        mine, theirs = getattr(asked, name), getattr(household, name)
        if mine < theirs:
            yield Loosened(f"evaluation.{name}", mine, theirs)
    if asked.repetitive > household.repetitive:
        yield Loosened("evaluation.repetitive", asked.repetitive, household.repetitive)


def _budget(asked: BudgetSettings, household: BudgetSettings) -> Iterator[Loosened]:
    for name in BUDGETS:
        mine, theirs = getattr(asked, name), getattr(household, name)
        if mine > theirs:
            yield Loosened(f"budget.{name}", mine, theirs)
