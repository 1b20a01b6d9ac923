"""What moves which weights, and how far at each step of a run."""

from __future__ import annotations

import numpy as np
import pytest

from tests.trainer.pretraining.tiny import one_thread, tiny
from trainer.pretraining.optimisers import share_at
from trainer.pretraining.training import Training


def test_the_step_size_rises_stays_and_falls_to_where_it_is_to_arrive() -> None:
    shares = [share_at(step, 10, 2, 4, 0.1) for step in range(10)]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1, 1, 1, 1, 0.775, 0.55, 0.325, 0.1])
    assert [share_at(step, 3, 0, 0, 0.0) for step in range(3)] == [1, 1, 1]


def moved(*changed: str) -> dict[str, float]:
    """By how much a step that has no gradient but of rounding moves each kind of weight, over its own length."""
    training = Training(tiny("train.warmup_steps=0", "train.clip=1e-12", *changed))
    before = {each.name: each.tensor.detach().clone() for each in training.parameters}
    rows = np.random.default_rng(0).integers(0, 256, (4, training.run.model.context + 1))
    with one_thread():
        training.step(rows, 0)
    return {
        each.name: float((each.tensor.detach() - before[each.name]).norm() / before[each.name].norm())
        for each in training.parameters
    }


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_weight_decay_pulls_matrices_and_the_embedding_but_no_gain(optimiser: str) -> None:
    # So large an epsilon that AdamW moves nothing, and a Muon that moves nothing but by its decay.
    quiet = (f"train.optimiser={optimiser}", "train.adamw.epsilon=1e6", "train.adamw.learning_rate=0.1")
    muon = ("train.muon.learning_rate=1e-9", "train.muon.weight_decay=1e8")
    found = moved(*quiet, *muon, "train.adamw.weight_decay=1")
    assert found["embedding"] == pytest.approx(0.1, rel=1e-3)
    assert found["0.gate_up"] == pytest.approx(0.1, rel=1e-2)
    assert found["0.attention_norm"] == found["final_norm"] == 0


def test_muon_moves_the_matrices_by_its_own_step_size_and_adamw_all_else() -> None:
    with_muon, without = moved("train.muon.learning_rate=0.5"), moved("train.optimiser=adamw")
    assert with_muon["0.qkv"] > 10 * without["0.qkv"]
    assert with_muon["embedding"] == without["embedding"]
