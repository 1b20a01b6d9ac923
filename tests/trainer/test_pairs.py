"""Pairs from a file to an adapter that llama.cpp and PEFT take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from configs.settings import Settings
from engine.gguf import check_adapter
from trainer.errors import TrainingDataBroken
from trainer.pairs import read_pairs, train_pairs

LINES = [
    {
        "prompt": [{"role": "user", "content": question}],
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": rejected}],
    }
    for question, chosen, rejected in (("Name our dog.", "Toby.", "Max."), ("Name our cat.", "Nube.", "Luna."))
]


def test_pairs_become_an_adapter_in_both_forms(settings: Settings, starter: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    recipe = settings.training.recipes["dpo"]
    recipe = recipe.model_copy(update={"optimiser": recipe.optimiser.model_copy(update={"epochs": 2})})
    report = train_pairs(tmp_path / "pairs.jsonl", tmp_path, starter, recipe, seed=1, threads=2, dtype=torch.float32)
    assert (report["pairs"], report["steps"]) == (2, 2)
    assert report["losses"][1] < report["losses"][0]
    assert check_adapter(tmp_path / "adapter.gguf", starter).adapter_alpha == recipe.lora.alpha
    with safe_open(tmp_path / "adapter_model.safetensors", "pt") as file:
        name = "base_model.model.model.layers.29.mlp.down_proj.lora_B.weight"
        assert len(file.keys()) == 30 * 7 * 2
        assert file.get_tensor(name).shape == (576, recipe.lora.rank)
    assert json.loads((tmp_path / "adapter_config.json").read_text())["r"] == recipe.lora.rank


def test_a_bad_line_is_named_by_its_number(starter: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps(LINES[0]) + '\n{"prompt": []}\n')
    with pytest.raises(TrainingDataBroken) as caught:
        read_pairs(tmp_path / "pairs.jsonl", starter)
    assert caught.value.facts["line"] == 2
