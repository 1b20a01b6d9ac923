"""What PEFT would compute from an exported folder is what llama.cpp computes from the adapter's own file.

PEFT's rule, applied here to weights in the order in which transformers holds them: W + lora_alpha / r · B A
(https://huggingface.co/docs/peft, ``LoraConfig``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.elsewhere.lora import CONFIG, WEIGHTS, write_peft
from engine.native import Adapter, Context, ContextShape, Model
from engine.scoring import LogProbs
from engine.served import AdapterFile
from tests.trainer.random_model import VOCABULARY, write_random_model
from trainer.model.adapter_file import write_gguf
from trainer.model.config import TRAINABLE
from trainer.model.decoder import Decoder
from trainer.model.frozen import Dense
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights, LayerWeights, read_base
from trainer.packing import Item, build_pack

# The decoder's products, each with the modules of transformers whose rows it holds, from top to bottom.
MODULES = {
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "output": ("self_attn.o_proj",),
    "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}
# Float32 on both sides: what is left is the order of sums, and float16 in llama.cpp's KV cache.
RIGHT, WRONG = 1e-4, 0.01
TOKENS = np.random.default_rng(5).integers(0, VOCABULARY, size=24).tolist()


def as_peft_adds(base: BaseWeights, folder: Path) -> BaseWeights:
    """The base with what the folder says added to its weights."""
    config = json.loads((folder / CONFIG).read_text())
    tensors, scale = load_file(folder / WEIGHTS), config["lora_alpha"] / config["r"]
    layers = tuple(_layer(number, layer, tensors, scale) for number, layer in enumerate(base.layers))
    assert not tensors, "tensors that no module takes"
    return replace(base, layers=layers)


def _layer(number: int, layer: LayerWeights, tensors: dict[str, torch.Tensor], scale: float) -> LayerWeights:
    changed: dict[str, Any] = {}
    for product, modules in MODULES.items():
        names = [f"base_model.model.model.layers.{number}.{module}" for module in modules]
        rows = [tensors.pop(f"{name}.lora_B.weight") @ tensors.pop(f"{name}.lora_A.weight") for name in names]
        frozen = getattr(layer, product)
        assert isinstance(frozen, Dense)
        changed[product] = Dense(frozen.weight + scale * torch.cat(rows))
    return replace(layer, **changed)


def ours(base: BaseWeights) -> LogProbs:
    pack = build_pack([Item(tuple(TOKENS[:1]), tuple(TOKENS[1:]))])
    with torch.no_grad():
        found: LogProbs = torch.log_softmax(Decoder(base).logits(pack), dim=-1).numpy()
    return found


def theirs(path: Path, adapters: Sequence[AdapterFile]) -> LogProbs:
    """Of llama.cpp, with the adapters over the model."""
    model = Model(path)
    context = Context(model, ContextShape(128, 1, 64, 64, 2, flash_attention=False))
    try:
        context.set_adapters([(Adapter(model, file.path), file.scale) for file in adapters])
        context.decode([(token, place, 0, True) for place, token in enumerate(TOKENS[:-1])])
        raw = np.stack([context.logits(row) for row in range(len(TOKENS) - 1)])[:, :VOCABULARY]
    finally:
        context.close()
        model.close()
    found: LogProbs = raw - np.log(np.exp(raw).sum(-1, keepdims=True))
    return found


def divergence(reference: LogProbs, other: LogProbs) -> float:
    return float((np.exp(reference) * (reference - other)).sum(-1).mean())


def write_adapters(base: BaseWeights, folder: Path, ranks_and_scales: Mapping[int, float]) -> list[AdapterFile]:
    """An adapter that changes something, for each rank."""
    files = []
    for rank, scale in ranks_and_scales.items():
        random = torch.Generator().manual_seed(rank)
        adapter = new_adapter(base.config, rank, 2.0 * rank, random)
        for key, b in adapter.b.items():
            adapter.b[key] = torch.randn(b.shape, generator=random) * 0.1
        write_gguf(adapter, base.config, folder / f"{rank}.gguf")
        files.append(AdapterFile(folder / f"{rank}.gguf", scale))
    return files


@pytest.mark.parametrize("architecture", TRAINABLE)
@pytest.mark.parametrize("ranks_and_scales", [{4: 1.0}, {4: 1.0, 2: 0.5}])
def test_a_folder_in_pefts_form_is_the_served_function_in_every_trainable_architecture(
    architecture: str, ranks_and_scales: dict[int, float], tmp_path: Path
) -> None:
    model = tmp_path / "model.gguf"
    write_random_model(model, architecture, layers=2)
    base = read_base(model)
    adapters = write_adapters(base, tmp_path, ranks_and_scales)
    write_peft(tmp_path / "peft", adapters, model, None)
    served = theirs(model, adapters)
    assert divergence(served, ours(as_peft_adds(base, tmp_path / "peft"))) < RIGHT
    assert divergence(served, ours(base)) > WRONG
