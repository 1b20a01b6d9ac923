"""Compiled code between the products: what PyTorch's own operations give, to the rounding of the number format."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.trainer.adapters import disturbed
from tests.trainer.random_model import write_random_model
from trainer.model.compiled import compiled
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.model.reading import read_base
from trainer.packing import Item, build_pack

CPU = torch.device("cpu")
# Paths of several lengths, one of them in two rows of the attention, and one token with many answers.
ITEMS = [
    Item((1, 2, 3), tuple(range(4, 60))),
    Item((1, 2, 3), (7, 8)),
    Item((1, 9), (4, 5), ((4, 6, 9), (5, 1, 2))),
]
# Of float32 the order of the sums; of bfloat16 one more or one less rounding of what has 8 bits.
CLOSE = {torch.float32: 2e-6, torch.bfloat16: 0.03}


def computed(model: Path, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities, and the gradient of their sum by an adapter that has learned something."""
    base = read_base(model, dtype)
    adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(1)), 0.1)
    for key, b in adapter.b.items():
        adapter.b[key] = b.requires_grad_()
    found = Decoder(base, adapter).log_probs(build_pack(ITEMS))
    found.sum().backward()
    return found.detach(), torch.cat([each.grad.flatten() for each in adapter.parameters() if each.grad is not None])


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).norm() / other.norm())


def test_set_up_has_compiled_it() -> None:
    assert compiled(torch.float32, CPU)
    assert compiled(torch.bfloat16, CPU)
    # What it has no functions for is left to PyTorch.
    assert compiled(torch.float16, CPU) is None
    assert compiled(torch.float32, torch.device("cuda")) is None


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3", "gemma3"])
def test_compiled_code_gives_what_pytorch_gives(
    architecture: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"final_logit_softcapping": 2.0} if architecture == "gemma3" else {}
    write_random_model(tmp_path / "model.gguf", architecture, layers=2, said=said)
    log_probs, gradient = computed(tmp_path / "model.gguf", dtype)
    monkeypatch.setattr("trainer.model.decoder.compiled", lambda dtype, device: None)
    plain_log_probs, plain_gradient = computed(tmp_path / "model.gguf", dtype)
    assert not torch.equal(gradient, plain_gradient)
    assert distance(log_probs, plain_log_probs) < CLOSE[dtype]
    assert distance(gradient, plain_gradient) < CLOSE[dtype]


@pytest.mark.parametrize("dtype", CLOSE)
def test_it_gives_the_same_to_the_bit_each_time(dtype: torch.dtype, tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", "llama", layers=2)
    one, other = (computed(tmp_path / "model.gguf", dtype) for _ in range(2))
    assert all(map(torch.equal, one, other))


def test_a_number_that_is_none_stays_none(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", "llama", layers=2)
    for dtype in CLOSE:
        base = read_base(tmp_path / "model.gguf", dtype)
        base.layers[0].attention_norm[0] = torch.nan
        with torch.no_grad():
            assert Decoder(base).log_probs(build_pack(ITEMS)).isnan().all()
