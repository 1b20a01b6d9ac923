"""What is served is what was trained: the adapter over the model's file, and merged into weights of eight bits."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest
import torch

from configs.home import Home
from configs.settings import load_settings
from engine.scoring import LocalModel
from engine.served import AdapterFile
from tests.trainer.adapters import disturbed
from tests.trainer.random_model import Kind, write_random_model
from tests.trainer.test_architectures import kl, ours, theirs
from tests.trainer.test_decoder import answers
from trainer.examples import Tokeniser
from trainer.fitting.merging import merge
from trainer.model.adapter_file import write_gguf
from trainer.model.config import TRAINABLE
from trainer.model.decoder import Decoder
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.parity import parity

# Nats a token, as the gate bounds them (training.gate.parity_kl); and what has to be between two functions that differ.
SAME, ANOTHER = 0.02, 0.1
RANK, SIZE = 16, 0.05


def written(base: BaseWeights, model: Path, folder: Path, merged_type: str) -> LoraAdapter:
    """An adapter over every projection, as ``adapter.gguf`` and in ``merged.gguf``."""
    adapter = disturbed(new_adapter(base.config, RANK, 2.0 * RANK, torch.Generator().manual_seed(1)), SIZE)
    write_gguf(adapter, base.config, folder / "adapter.gguf")
    merge(model, model, [(folder / "adapter.gguf", 1.0)], folder / "merged.gguf", merged_type)
    return adapter


@pytest.mark.parametrize("kind", [Kind.F16, Kind.Q4_1, Kind.Q4_K, Kind.Q8_0], ids=lambda kind: kind.name)
@pytest.mark.parametrize("architecture", TRAINABLE)
def test_the_adapter_and_the_merged_weights_are_the_trained_function_in_every_architecture(
    architecture: str, kind: gguf.GGMLQuantizationType, home: Home, tmp_path: Path
) -> None:
    model = tmp_path / "model.gguf"
    write_random_model(model, architecture, layers=4, width=256, head_size=64, kind=kind)
    base = read_base(model)
    adapter = written(base, model, tmp_path, load_settings(home, {}).engine.form.merged_type)
    trained = ours(base, adapter)
    assert kl(trained, theirs(model, tmp_path / "adapter.gguf")).mean() <= SAME
    assert kl(trained, theirs(tmp_path / "merged.gguf")).mean() <= SAME
    assert kl(trained, theirs(model)).mean() > ANOTHER


def test_the_adapter_and_the_merged_weights_of_the_starter_are_the_trained_function(
    base: BaseWeights, served: LocalModel, tokeniser: Tokeniser, starter: Path, home: Home, tmp_path: Path
) -> None:
    engine = load_settings(home, {}).engine
    adapter = written(base, starter, tmp_path, engine.form.merged_type)
    trained, asked = Decoder(base, adapter), answers(tokeniser)
    served.set_adapters([AdapterFile(tmp_path / "adapter.gguf", 1.0)])
    try:
        over = parity(trained, served, asked)
    finally:
        served.set_adapters([])
    without = parity(trained, served, asked)
    with LocalModel(tmp_path / "merged.gguf", engine, context_size=128, threads=2) as merged:
        within = parity(trained, merged, asked)
    assert over <= SAME
    assert within <= SAME
    assert without > ANOTHER
