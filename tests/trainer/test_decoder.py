"""The decoder is the served function: the starter held against llama.cpp by logits, with an adapter and without."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.messages import Message
from engine.scoring import LocalModel
from engine.served import AdapterFile
from tests.trainer.adapters import disturbed
from tests.trainer.random_model import write_random_model
from trainer.examples import Tokeniser
from trainer.model.adapter_file import load_weights, save_weights, write_gguf
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.packing import Item, build_pack
from trainer.parity import parity

# Q4_1 products in llama.cpp take the activations in eight bits, which alone gives 0.004 to 0.006.
RIGHT, WRONG = 0.02, 0.1


def answers(tokeniser: Tokeniser) -> list[Item]:
    return [
        tokeniser.item([Message("user", "What is the capital of France?")], "The capital of France is Paris."),
        tokeniser.item([Message("user", "How do I boil an egg?")], "Put it in boiling water for ten minutes."),
        tokeniser.item([Message("user", "¿Dónde está Lima?")], "Lima está en el Perú."),
    ]


def test_logits_are_those_of_llama_cpp(base: BaseWeights, served: LocalModel, tokeniser: Tokeniser) -> None:
    assert parity(Decoder(base), served, answers(tokeniser)) < RIGHT


def test_an_exported_adapter_serves_what_was_trained(
    base: BaseWeights, served: LocalModel, tokeniser: Tokeniser, tmp_path: Path
) -> None:
    adapter = disturbed(new_adapter(base.config, 16, 32.0, torch.Generator().manual_seed(1)), 0.04)
    write_gguf(adapter, base.config, tmp_path / "adapter.gguf")
    served.set_adapters([AdapterFile(tmp_path / "adapter.gguf", 1.0)])
    try:
        with_it = parity(Decoder(base, adapter), served, answers(tokeniser))
        without = parity(Decoder(base), served, answers(tokeniser))
    finally:
        served.set_adapters([])
    assert with_it < RIGHT
    assert without > WRONG


def test_a_pack_scores_each_answer_as_if_it_were_alone(starter: Path, tokeniser: Tokeniser) -> None:
    """In float32: in bfloat16 a product of other numbers of rows rounds otherwise, most with matrix tiles."""
    base = read_base(starter)
    items = answers(tokeniser)
    items.append(tokeniser.item([Message("user", "What is the capital of France?")], "It is Lyon."))
    pack = build_pack(items)
    assert len(pack.tokens) < sum(item.length for item in items) * 0.8
    with torch.no_grad():
        together = Decoder(base).log_probs(pack)
        for item, span in zip(items, pack.spans, strict=True):
            alone = Decoder(base).log_probs(build_pack([item]))
            assert together[slice(*span)] == pytest.approx(alone.numpy(), abs=1e-4)


def test_gradients_are_those_of_plain_autograd(tmp_path: Path) -> None:
    """Against the slope of the loss itself, in float32 on a small model of each kind of layer."""
    for architecture, said in (("qwen2", {}), ("gemma3", {"final_logit_softcapping": 2.0})):
        write_random_model(tmp_path / f"{architecture}.gguf", architecture, layers=2, said=said)
        base = read_base(tmp_path / f"{architecture}.gguf")
        adapter = new_adapter(base.config, 2, 4.0, torch.Generator().manual_seed(1))
        disturbed(adapter, 0.3)
        for values in (adapter.a, adapter.b):
            for key in values:
                values[key] = values[key].detach().requires_grad_()
        decoder = Decoder(base, adapter)
        pack = build_pack([Item((1, 2, 3), (4, 5, 6)), Item((1, 2, 3), (7, 8)), Item((1, 9), (4, 5))])
        decoder.log_probs(pack).sum().backward()
        for projection in ("q", "k", "v", "o", "gate", "up", "down"):
            for values in (adapter.a, adapter.b):
                _check_slope(decoder, pack, values[0, projection])


def test_layers_that_are_computed_twice_give_the_same_gradients_to_the_last_bit(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", "gemma3", layers=3)
    base = read_base(tmp_path / "model.gguf")
    found = []
    for recompute in (False, True):
        adapter = disturbed(new_adapter(base.config, 2, 4.0, torch.Generator().manual_seed(1)), 0.3)
        for key, b in adapter.b.items():
            adapter.b[key] = b.requires_grad_()
        decoder = Decoder(base, adapter, recompute=recompute)
        kept = 0

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal kept
            kept += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            total = decoder.log_probs(build_pack([Item((1, 2, 3), (4, 5, 6)), Item((1, 9), (4, 5))])).sum()
        outside = kept
        total.backward()
        found.append((outside, [tensor.grad for tensor in adapter.parameters()]))
    (all_kept, plain), (few_kept, twice) = found
    assert few_kept < all_kept / 5
    assert all(
        one is not None and other is not None and torch.equal(one, other)
        for one, other in zip(plain, twice, strict=True)
    )


def _check_slope(decoder: Decoder, pack: object, tensor: torch.Tensor) -> None:
    """Central difference along the gradient's own direction."""
    assert tensor.grad is not None
    direction = tensor.grad / tensor.grad.norm()
    step = 1e-2
    with torch.no_grad():
        tensor += step * direction
        above = float(decoder.log_probs(pack).double().sum())  # type: ignore[arg-type]
        tensor -= 2 * step * direction
        below = float(decoder.log_probs(pack).double().sum())  # type: ignore[arg-type]
        tensor += step * direction
    assert (above - below) / (2 * step) == pytest.approx(float(tensor.grad.norm()), rel=0.03)


def test_saved_weights_come_back_the_same(base: BaseWeights, tmp_path: Path) -> None:
    adapter = disturbed(new_adapter(base.config, 2, 4.0, torch.Generator().manual_seed(1)), 0.1)
    save_weights(adapter, tmp_path / "adapter.safetensors")
    back = load_weights(tmp_path / "adapter.safetensors")
    assert (back.rank, back.alpha) == (2, 4.0)
    assert all(torch.equal(adapter.a[key], back.a[key]) for key in adapter.a)
    assert all(torch.equal(adapter.b[key], back.b[key]) for key in adapter.b)
