"""What a run trains over: the base, and frozen over it the adapters that the family is served."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from configs.home import Home
from configs.sections.training import FrozenSettings
from engine.messages import Message
from engine.scoring import LocalModel
from engine.served import AdapterFile
from tests.trainer.adapters import disturbed
from tests.trainer.stages import inputs_for
from trainer.errors import NotMergeable
from trainer.examples import Tokeniser
from trainer.model.adapter_file import write_gguf
from trainer.model.decoder import Decoder
from trainer.model.gguf_file import GGUFFile
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.model.shapes import EMBEDDING
from trainer.parity import parity

BLOCKS = FrozenSettings(keep="blocks", dense_share=1.0)
DENSE = FrozenSettings(keep="dense", dense_share=1.0)


@pytest.fixture(scope="module")
def family(base: BaseWeights, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, float]]:
    """Two adapters of different ranks and scales, as one snapshot may have them."""
    found = []
    for seed, rank, scale in ((3, 4, 0.75), (4, 2, 1.0)):
        adapter = disturbed(new_adapter(base.config, rank, 8.0, torch.Generator().manual_seed(seed)), 0.1)
        path = tmp_path_factory.mktemp("adapters") / f"{seed}.gguf"
        write_gguf(adapter, base.config, path)
        found.append((path, scale))
    return found


@pytest.mark.parametrize("kept", [DENSE, BLOCKS], ids=["dense", "blocks"])
def test_an_adapter_over_the_familys_is_the_same_function_here_and_served(
    starter: Path,
    base: BaseWeights,
    served: LocalModel,
    tokeniser: Tokeniser,
    family: list[tuple[Path, float]],
    kept: FrozenSettings,
    tmp_path: Path,
) -> None:
    own = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(5)), 0.01)
    write_gguf(own, base.config, tmp_path / "own.gguf")
    item = tokeniser.item([Message("user", "What is the name of our dog?")], "Our dog is called Toby.")
    ground = read_base(starter, torch.float32, kept, family)
    beneath = [AdapterFile(path, scale) for path, scale in family]
    try:
        served.set_adapters([*beneath, AdapterFile(tmp_path / "own.gguf", 1.0)])
        same = parity(Decoder(ground, own), served, [item])
        without = parity(Decoder(read_base(starter, torch.float32, kept), own), served, [item])
    finally:
        served.set_adapters([])
    assert same < 0.01 < 0.05 < without


def test_what_lies_beneath_is_multiplied_back_by_what_it_was_multiplied_by(
    starter: Path, family: list[tuple[Path, float]]
) -> None:
    for product in ("qkv", "output", "gate_up", "down"):
        weight = getattr(read_base(starter, torch.float32, DENSE, family).layers[1], product)
        identity = torch.eye(weight.times(torch.zeros(1, weight.a.shape[1])).shape[1])
        whole = weight.back(identity)
        torch.testing.assert_close(weight.times(torch.eye(whole.shape[1])).t(), whole, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(weight.rows(torch.tensor([3, 1])), whole[[3, 1]], rtol=1e-4, atol=1e-4)


def test_an_adapter_of_the_embedding_cannot_lie_beneath(starter: Path, tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    writer.add_type("adapter")
    tokens, width = GGUFFile(starter).shape(EMBEDDING)
    writer.add_tensor(f"{EMBEDDING}.lora_a", np.zeros((1, width), np.float32))
    writer.add_tensor(f"{EMBEDDING}.lora_b", np.zeros((tokens, 1), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(NotMergeable):
        read_base(starter, adapters=[(tmp_path / "a.gguf", 1.0)])


def test_what_is_kept_of_a_ground_belongs_to_its_adapters_and_their_scales(home: Home, starter: Path) -> None:
    bare = inputs_for(home, starter, {})
    over = [
        replace(bare, beneath=(AdapterFile(home.artifact(digit * 64), scale),))
        for digit, scale in (("a", 1.0), ("b", 1.0), ("a", 0.5))
    ]
    assert bare.ground == bare.base_sha256
    assert len({each.ground for each in (bare, *over)}) == 4
