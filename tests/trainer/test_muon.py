"""Muon makes what moves a matrix orthogonal, each matrix for itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from trainer.muon import Muon, orthogonal

NUMBERS = SimpleNamespace(learning_rate=0.1, momentum=0.9, nesterov=True, iterations=5, weight_decay=0.2)
# Between these lie, after five iterations, the singular values of whatever was not tiny.
LEAST, MOST = 0.6, 1.3


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(12, 12), (8, 24), (24, 8)])
def test_what_moves_a_matrix_has_singular_values_of_about_one_in_the_same_directions(shape: tuple[int, int]) -> None:
    matrix = drawn(*shape)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    scale = max(1.0, shape[0] / shape[1]) ** 0.5
    turned = left.t() @ orthogonal(matrix, 5, torch.float32) @ right.t() / scale
    large = values / values.norm() > 0.05
    assert (turned.diagonal()[large] > LEAST).all()
    assert (turned.diagonal() < MOST).all()
    assert float((turned - turned.diagonal().diag()).abs().max()) < 1e-4


def test_nothing_moves_a_matrix_that_has_no_gradient() -> None:
    assert torch.equal(orthogonal(torch.zeros(4, 6), 5, torch.bfloat16), torch.zeros(4, 6))


@pytest.mark.parametrize("nesterov", [True, False])
def test_a_step_is_that_of_the_paper_for_each_of_the_matrices_in_a_parameter(nesterov: bool) -> None:
    numbers = SimpleNamespace(**{**vars(NUMBERS), "nesterov": nesterov})
    parameter = drawn(10, 8, seed=1).requires_grad_()
    expected, momentum = parameter.detach().clone(), torch.zeros(10, 8)
    muon = Muon([parameter], [(6, 4)], numbers, torch.float32)
    for step in range(3):
        gradient = drawn(10, 8, seed=step + 2)
        momentum = 0.9 * momentum + 0.1 * gradient
        ahead = 0.9 * momentum + 0.1 * gradient if nesterov else momentum
        moved = torch.cat([orthogonal(ahead[:6], 5, torch.float32), orthogonal(ahead[6:], 5, torch.float32)])
        muon.rate = rate = 0.1 / (step + 1)
        expected = expected * (1 - rate * 0.2) - rate * moved
        parameter.grad = gradient
        muon.step()
        assert torch.allclose(parameter.detach(), expected, atol=1e-5)


def test_it_goes_on_from_what_was_kept_to_the_bit() -> None:
    one, other = (drawn(4, 8, seed=1).requires_grad_() for _ in range(2))
    straight, begun = (Muon([each], [(4,)], NUMBERS, torch.bfloat16) for each in (one, other))
    for step in range(4):
        for parameter, muon in ((one, straight), (other, begun)):
            parameter.grad = drawn(4, 8, seed=step + 2)
            muon.step()
            muon.clear_gradients()
        kept = {place: {name: value.clone() for name, value in state.items()} for place, state in begun.kept().items()}
        begun = Muon([other], [(4,)], NUMBERS, torch.bfloat16)
        begun.take_up(kept)
    assert torch.equal(one, other)
