"""Adapters of GGUF files in PEFT's layout and added up: the same numbers, the same function."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file

from engine.elsewhere.lora import (
    Heads,
    Lora,
    added_up,
    peft_config,
    peft_tensors,
    read_heads,
    read_lora,
    write_gguf,
    write_peft,
)
from engine.errors import AdapterMismatch
from engine.served import AdapterFile
from tests.engine.snapshots import write_adapter
from trainer.model import adapter_file
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import BaseWeights, read_base

NAMES = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
         "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}  # fmt: skip


@pytest.fixture(scope="module")
def base(starter: Path) -> BaseWeights:
    return read_base(starter)


def trained(base: BaseWeights, seed: int, rank: int = 4) -> LoraAdapter:
    """An adapter on every projection, as a training leaves one."""
    random = torch.Generator().manual_seed(seed)
    made = new_adapter(base.config, rank, 2.0 * rank, random)
    for key, b in made.b.items():
        made.b[key] = torch.randn(b.shape, generator=random) * 0.02
    return made


def change(lora: Lora, weight: str) -> NDArray[np.float32]:
    """What an adapter adds to a weight."""
    a, b = lora.pairs[weight]
    return np.asarray(lora.alpha / a.shape[0] * (b @ a), np.float32)


def test_a_folder_in_pefts_form_holds_the_trained_numbers_bit_for_bit(
    base: BaseWeights, starter: Path, tmp_path: Path
) -> None:
    adapter = trained(base, seed=1)
    adapter_file.write_gguf(adapter, base.config, tmp_path / "adapter.gguf")
    write_peft(tmp_path / "peft", [AdapterFile(tmp_path / "adapter.gguf", 1.0)], starter, "the/base")
    tensors = load_file(tmp_path / "peft" / "adapter_model.safetensors")
    assert len(tensors) == 2 * len(adapter.a)
    for (layer, projection), a in adapter.a.items():
        name = f"base_model.model.model.layers.{layer}.{NAMES[projection]}"
        assert np.array_equal(tensors[f"{name}.lora_A.weight"], a.detach().numpy())
        assert np.array_equal(tensors[f"{name}.lora_B.weight"], adapter.b[layer, projection].numpy())
    config = json.loads((tmp_path / "peft" / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["peft_type"]) == (4, 8, "LORA")
    assert sorted(config["target_modules"]) == sorted(name.split(".")[1] for name in NAMES.values())
    assert config["base_model_name_or_path"] == "the/base"


def test_a_scale_goes_into_alpha_and_leaves_the_numbers_alone(starter: Path, tmp_path: Path) -> None:
    path = write_adapter(tmp_path / "a.gguf", seed=1)
    lora = read_lora(path, starter)
    scaled = added_up([(lora, 0.25)])
    assert scaled.alpha == lora.alpha * 0.25
    assert scaled.pairs is lora.pairs


def test_adapters_added_up_change_the_weights_as_they_do_one_by_one(
    base: BaseWeights, starter: Path, tmp_path: Path
) -> None:
    parts = []
    for seed, rank, scale in ((1, 4, 1.0), (2, 8, 0.5), (3, 2, -0.3)):
        path = tmp_path / f"{seed}.gguf"
        adapter_file.write_gguf(trained(base, seed, rank), base.config, path)
        parts.append(AdapterFile(path, scale))
    parts.append(AdapterFile(write_adapter(tmp_path / "v.gguf", seed=9), 1.0))
    loras = [(read_lora(part.path, starter), part.scale) for part in parts]
    write_gguf(tmp_path / "sum.gguf", parts, starter)
    together = read_lora(tmp_path / "sum.gguf", starter)
    assert {a.shape[0] for a, _ in together.pairs.values()} == {4 + 8 + 2 + 4}
    for weight in ("blk.0.attn_v.weight", "blk.0.attn_q.weight", "blk.29.ffn_down.weight"):
        wanted = sum(scale * change(lora, weight) for lora, scale in loras if weight in lora.pairs)
        assert np.allclose(change(together, weight), wanted, atol=1e-5)


def test_an_architecture_or_a_weight_without_a_known_place_is_refused() -> None:
    pair = (np.zeros((2, 4), np.float32), np.zeros((4, 2), np.float32))
    for architecture, weight in (
        ("mamba", "blk.0.attn_q.weight"),
        ("llama", "token_embd.weight"),
        ("llama", "blk.0.ssm_in.weight"),
    ):
        with pytest.raises(ValueError, match="known"):
            peft_tensors(Lora(architecture, 4.0, {weight: pair}), Heads(2, 2))


def test_pairs_of_unlike_ranks_have_no_description_in_pefts_form() -> None:
    def pair(rank: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.zeros((rank, 4), np.float32), np.zeros((4, rank), np.float32)

    with pytest.raises(ValueError, match="ranks"):
        peft_config(Lora("llama", 4.0, {"blk.0.attn_q.weight": pair(2), "blk.0.attn_k.weight": pair(3)}), "base")


def test_the_heads_are_those_of_the_models_file(starter: Path, base: BaseWeights) -> None:
    assert read_heads(starter) == Heads(base.config.heads, base.config.kv_heads)


def test_what_is_no_adapter_for_this_model_is_refused(starter: Path, tmp_path: Path) -> None:
    for path in (
        write_adapter(tmp_path / "other.gguf", arch="qwen3"),
        write_adapter(tmp_path / "bare.gguf", alpha=None),
    ):
        with pytest.raises(AdapterMismatch):
            read_lora(path, starter)


def test_a_folder_that_could_not_be_written_whole_is_not_there(starter: Path, tmp_path: Path) -> None:
    with pytest.raises(AdapterMismatch):
        write_peft(tmp_path / "peft", [AdapterFile(starter, 1.0)], starter, "base")
    assert not (tmp_path / "peft").exists()
    assert list(tmp_path.glob("*.part")) == []
