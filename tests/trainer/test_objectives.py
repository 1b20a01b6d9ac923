"""Losses and gradients against the published formulas, written out a second time."""

from __future__ import annotations

import pytest
import torch

from trainer.objectives.apo_zero import ApoZero
from trainer.objectives.distillation import Distillation
from trainer.objectives.interface import Example, Objective
from trainer.objectives.likelihood import Likelihood
from trainer.objectives.preference import Preference
from trainer.objectives.replay import Replay
from trainer.packing import Item


def test_likelihood_is_cross_entropy_of_the_chosen_answer() -> None:
    logits = torch.randn(3, 11, generator=torch.Generator().manual_seed(0), requires_grad=True)
    answer = (4, 0, 9)
    log_probs = torch.log_softmax(logits, -1)[torch.arange(3), torch.tensor(answer)]
    example = Example((Item((1,), answer), Item((1,), (5,))))
    objective = Likelihood()
    loss = objective.loss(example, [log_probs, torch.zeros(1)]) / objective.size(example)
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(answer))
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), abs=1e-6)
    (ours,) = torch.autograd.grad(loss, logits, retain_graph=True)
    (theirs,) = torch.autograd.grad(expected, logits)
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_preference_is_the_dpo_loss_of_trl() -> None:
    # trl DPOTrainer, loss_type "sigmoid": logits = (chosen - ref_chosen) - (rejected - ref_rejected),
    # losses = -logsigmoid(beta * logits), log-probabilities summed over the completion.
    chosen = torch.tensor([-1.0, -0.5], requires_grad=True)
    rejected = torch.tensor([-0.2, -2.0, -0.1], requires_grad=True)
    example = Example((Item((1,), (2, 3)), Item((1,), (4, 5, 6))), ((-1.2, -0.4), (-0.3, -1.0, -0.2)))
    loss = Preference(beta=0.3).loss(example, [chosen, rejected])
    logits = (chosen.sum() - (-1.6)) - (rejected.sum() - (-1.5))
    expected = -torch.nn.functional.logsigmoid(0.3 * logits)
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), abs=1e-6)
    loss.backward()
    slope = -0.3 * torch.sigmoid(-0.3 * logits.detach())
    assert torch.allclose(chosen.grad, slope.expand(2), atol=1e-6)  # type: ignore[arg-type]
    assert torch.allclose(rejected.grad, -slope.expand(3), atol=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("objective", [Preference(0.3), ApoZero(0.3)], ids=lambda each: each.name)
def test_both_answers_of_a_pair_are_watched_from_where_the_base_has_them(objective: Objective) -> None:
    example = Example((Item((1,), (2, 3)), Item((1,), (4,))), ((-1.0, -2.0), (-0.5,)))
    watched = objective.watched(example, [torch.tensor([-1.5, -2.0]), torch.tensor([-0.25])])
    assert watched == {"chosen_log_ratio": -0.5, "rejected_log_ratio": 0.25}


@pytest.mark.parametrize("objective", [Replay(), Distillation()], ids=lambda each: each.name)
def test_with_all_tokens_kept_it_is_the_kl_from_the_teacher(objective: Objective) -> None:
    generator = torch.Generator().manual_seed(2)
    base = torch.log_softmax(torch.randn(2, 5, generator=generator), -1)
    logits = torch.randn(2, 5, generator=generator, requires_grad=True)
    trained = torch.log_softmax(logits, -1)
    everything = tuple(tuple(range(5)) for _ in range(2))
    example = Example((Item((1,), (3, 4), everything),), (tuple(base.flatten().tolist()),))
    loss = objective.loss(example, [trained.flatten()])
    assert loss.dtype == torch.float32
    expected = torch.nn.functional.kl_div(trained, base, log_target=True, reduction="sum")
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), abs=1e-4)
    (ours,) = torch.autograd.grad(loss, logits, retain_graph=True)
    (theirs,) = torch.autograd.grad(expected, logits)
    assert torch.allclose(ours, theirs, atol=1e-4)


def test_replay_counts_what_was_not_kept_as_one_rest() -> None:
    generator = torch.Generator().manual_seed(2)
    base = torch.log_softmax(torch.randn(1, 50, generator=generator) * 2, -1)
    trained = torch.log_softmax(torch.randn(1, 50, generator=generator) * 2, -1)
    kept = base.topk(10, -1)
    example = Example((Item((1,), (3,), (tuple(kept.indices[0].tolist()),)),), (tuple(kept.values[0].tolist()),))
    loss = float(Replay().loss(example, [trained[0, kept.indices[0]]]))
    p, q = base[0, kept.indices[0]].exp(), trained[0, kept.indices[0]].exp()
    rest = (1 - p.sum()) * torch.log((1 - p.sum()) / (1 - q.sum()))
    assert loss == pytest.approx(float((p * (p / q).log()).sum() + rest), abs=1e-5)
    assert 0 < loss < float((base.exp() * (base - trained)).sum())


def test_replay_of_an_unchanged_model_is_nothing() -> None:
    base = torch.log_softmax(torch.randn(1, 50, generator=torch.Generator().manual_seed(0)), -1)
    kept = base.topk(8, -1)
    example = Example((Item((1,), (3,), (tuple(kept.indices[0].tolist()),)),), (tuple(kept.values[0].tolist()),))
    assert float(Replay().loss(example, [kept.values[0]])) == pytest.approx(0.0, abs=1e-6)
