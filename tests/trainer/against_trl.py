"""The objectives on the cases that ``benchmarks/peers/trl_losses.py`` writes, beside what TRL's own trainers gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from trainer.objectives.apo_zero import ApoZero
from trainer.objectives.interface import Example, Objective
from trainer.objectives.kto import Kto
from trainer.objectives.likelihood import Likelihood
from trainer.objectives.preference import Preference
from trainer.packing import Item

TOLERANCE = 1e-4


def objective_for(case: Mapping[str, Any]) -> Objective:
    """What is held against the case's ``loss_type``."""
    beta = case["beta"]
    made: dict[str, Objective] = {"sft": Likelihood(), "sigmoid": Preference(beta)}
    made |= {"apo_zero": ApoZero(beta), "kto": Kto(beta)}
    return made[case["loss_type"]]


def loss_and_gradients(case: Mapping[str, Any]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Our mean loss on the case's answers, and its gradient by each answer's log-probabilities."""
    answers = [torch.tensor(each, requires_grad=True) for each in case["log_probs"]]
    objective = objective_for(case)
    units = _units(case, answers)
    size = sum(objective.size(example) for example, _ in units)
    loss = torch.stack([objective.loss(example, log_probs) for example, log_probs in units]).sum() / size
    gradients = torch.autograd.grad(loss, answers, allow_unused=True, materialize_grads=True)
    return loss, list(gradients)


def _units(case: Mapping[str, Any], answers: Sequence[torch.Tensor]) -> list[tuple[Example, list[torch.Tensor]]]:
    """The examples that the case amounts to, each with the log-probabilities of its items."""
    reference = [tuple(each) for each in case["reference"]]
    if case["loss_type"] == "kto":
        mismatched = [torch.tensor(each) for each in case["mismatched"]]
        everything = [*answers, *mismatched]
        references = (*reference, *(tuple(each) for each in case["mismatched_reference"]))
        return [(Example(_items(everything), references, desirable=tuple(case["desirable"])), everything)]
    half = len(answers) // 2
    pairs = [[answers[number], answers[number + half]] for number in range(half)]
    return [
        (Example(_items(pair), (reference[number], reference[number + half])), pair)
        for number, pair in enumerate(pairs)
    ]


def _items(answers: Sequence[torch.Tensor]) -> tuple[Item, ...]:
    return tuple(Item((0,), (0,) * len(answer)) for answer in answers)
