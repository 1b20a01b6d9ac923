"""The decoder is the served function: held against llama.cpp by logits, for each architecture and with an adapter."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from engine.messages import Message
from engine.native import Adapter, Context, ContextShape, Model
from engine.scoring import LocalModel
from engine.served import AdapterFile
from tests.trainer.random_model import VOCABULARY, write_random_model
from trainer.errors import NotTrainable
from trainer.examples import Tokeniser
from trainer.model.adapter_file import load_weights, save_weights, write_gguf
from trainer.model.config import TRAINABLE
from trainer.model.decoder import Decoder
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.packing import Item, build_pack
from trainer.stages.export import parity

# Q4_1 products in llama.cpp take the activations in eight bits, which alone gives 0.004 to 0.006.
RIGHT, WRONG = 0.02, 0.1
# Float32 on both sides: what is left is the order of sums, and float16 in llama.cpp's KV cache.
RANDOM_RIGHT = 1e-4


def answers(tokeniser: Tokeniser) -> list[Item]:
    return [
        tokeniser.item([Message("user", "What is the capital of France?")], "The capital of France is Paris."),
        tokeniser.item([Message("user", "How do I boil an egg?")], "Put it in boiling water for ten minutes."),
        tokeniser.item([Message("user", "¿Dónde está Lima?")], "Lima está en el Perú."),
    ]


def disturbed(adapter: LoraAdapter, size: float) -> LoraAdapter:
    """The adapter with a B that is not zero any more."""
    generator = torch.Generator().manual_seed(3)
    for key, b in adapter.b.items():
        adapter.b[key] = torch.randn(b.shape, generator=generator) * size
    return adapter


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


@pytest.mark.parametrize("architecture", TRAINABLE)
@pytest.mark.parametrize("adapted", [False, True])
def test_every_trainable_architecture_matches_llama_cpp(architecture: str, adapted: bool, tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", architecture)
    base = read_base(tmp_path / "model.gguf")
    tokens = np.random.default_rng(5).integers(0, VOCABULARY, size=24).tolist()
    adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(1)), 0.1) if adapted else None
    pack = build_pack([Item(tuple(tokens[:1]), tuple(tokens[1:]))])
    with torch.no_grad():
        ours = torch.log_softmax(Decoder(base, adapter).logits(pack), dim=-1).numpy()
    model = Model(tmp_path / "model.gguf")
    context = Context(model, ContextShape(128, 1, 64, 64, 2, flash_attention=False))
    try:
        if adapter:
            write_gguf(adapter, base.config, tmp_path / "adapter.gguf")
            context.set_adapters([(Adapter(model, tmp_path / "adapter.gguf"), 1.0)])
        context.decode([(token, place, 0, True) for place, token in enumerate(tokens[:-1])])
        raw = np.stack([context.logits(row) for row in range(len(tokens) - 1)])[:, : base.config.vocabulary]
    finally:
        context.close()
        model.close()
    theirs = raw - np.log(np.exp(raw).sum(-1, keepdims=True))
    assert (np.exp(theirs) * (theirs - ours)).sum(-1).mean() < RANDOM_RIGHT


def test_an_architecture_that_cannot_be_trained_is_named_with_those_that_can(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "mamba.gguf"), "mamba")
    writer.add_tensor("token_embd.weight", np.zeros((8, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(NotTrainable) as caught:
        read_base(tmp_path / "mamba.gguf")
    assert caught.value.facts["architecture"] == "mamba"
    assert caught.value.facts["trainable"] == "llama, qwen2, qwen3, gemma3"


def test_a_pack_scores_each_answer_as_if_it_were_alone(base: BaseWeights, tokeniser: Tokeniser) -> None:
    items = answers(tokeniser)
    items.append(tokeniser.item([Message("user", "What is the capital of France?")], "It is Lyon."))
    pack = build_pack(items)
    assert len(pack.tokens) < sum(item.length for item in items) * 0.8
    with torch.no_grad():
        together = Decoder(base).log_probs(pack)
        for item, span in zip(items, pack.spans, strict=True):
            alone = Decoder(base).log_probs(build_pack([item]))
            assert together[slice(*span)] == pytest.approx(alone.numpy(), abs=0.02)


def test_gradients_are_those_of_plain_autograd(tmp_path: Path) -> None:
    """Against the slope of the loss itself, in float32 on a small model of each kind of layer."""
    for architecture in ("qwen2", "gemma3"):
        write_random_model(tmp_path / f"{architecture}.gguf", architecture, layers=2)
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
