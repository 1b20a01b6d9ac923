"""Log-probabilities of chosen tokens, the vocabulary in pieces: those of a plain softmax over all of it at once."""

from __future__ import annotations

import pytest
import torch

from trainer.model.compiled import Compiled, compiled
from trainer.model.frozen import Dense
from trainer.model.log_probs import TargetLogProbs

VOCABULARY, WIDTH, ROWS, PAIRS = 103, 8, 6, 40


@pytest.mark.parametrize("how", [compiled(torch.float32, torch.device("cpu")), None], ids=["compiled", "by PyTorch"])
@pytest.mark.parametrize("cap", [0.0, 2.5])
def test_pieces_of_the_vocabulary_give_what_all_of_it_gives(
    cap: float, how: Compiled | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of 12 tokens, the last of 7; backward takes as many pairs at a time.
    monkeypatch.setattr("trainer.model.frozen.SLAB", 12 * WIDTH)
    monkeypatch.setattr("trainer.model.log_probs.SLAB", 12 * WIDTH)
    generator = torch.Generator().manual_seed(5)
    head = torch.randn(VOCABULARY, WIDTH, generator=generator)
    hidden = torch.randn(ROWS, WIDTH, generator=generator) * 3
    hidden.requires_grad_()
    rows = torch.randint(0, ROWS, (PAIRS,), generator=generator)
    tokens = torch.randint(0, VOCABULARY, (PAIRS,), generator=generator)
    weights = torch.randn(PAIRS, generator=generator)

    def gradient(log_probs: torch.Tensor) -> torch.Tensor:
        (found,) = torch.autograd.grad((log_probs * weights).sum(), hidden)
        return found

    logits = hidden @ head.t()
    plain = torch.log_softmax(cap * torch.tanh(logits / cap) if cap else logits, dim=-1)[rows, tokens]
    pieces = TargetLogProbs.apply(hidden, Dense(head), rows, tokens, torch.float32, cap, how)
    assert torch.allclose(pieces, plain, atol=1e-5)
    assert torch.allclose(gradient(pieces), gradient(plain), atol=1e-5)
    with torch.no_grad():
        assert torch.equal(TargetLogProbs.apply(hidden, Dense(head), rows, tokens, torch.float32, cap, how), pieces)
