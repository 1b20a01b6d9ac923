"""Each architecture that can be taught, in every shape its files come in, is the function that llama.cpp serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from configs.sections.training import FrozenSettings
from engine.native import Adapter, Context, ContextShape, Model
from tests.trainer.adapters import disturbed
from tests.trainer.random_model import HEAD_SIZE, VOCABULARY, Kind, write_random_model
from trainer.errors import NotTrainable, ShapeNotTrainable
from trainer.model.adapter_file import write_gguf
from trainer.model.config import TRAINABLE
from trainer.model.decoder import Decoder
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.packing import Item, build_pack

# Float32 on both sides: what is left is the order of sums, and float16 in llama.cpp's KV cache and tables.
SAME, ANOTHER = 1e-4, 1e-3
# llama.cpp takes the activations in eight bits where it multiplies blocks.
SAME_IN_EIGHT_BITS = 0.02
TOKENS = np.random.default_rng(5).integers(0, VOCABULARY, size=40).tolist()
BLOCKS = FrozenSettings(keep="blocks", dense_share=1.0)

IGNORED = "no scaling in spite of a factor"

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {}),
    "gemma3": ("gemma3", {}),
    "a head of its own": ("llama", {"untied": True}),
    "heads wider than their share": ("qwen3", {"head_size": 32}),
    "positions made closer": ("qwen2", {"said": {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}}),
    "positions made closer, under the old key": ("llama", {"said": {"rope.scale_linear": 4.0}}),
    IGNORED: ("llama", {"said": {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}}),
    "yarn": (
        "qwen3",
        {
            "said": {
                "rope.scaling.type": "yarn",
                "rope.scaling.factor": 4.0,
                "rope.scaling.original_context_length": 32,
                "rope.scaling.attn_factor": 1.1,
            }
        },
    ),
    "factors of frequencies": (
        "llama",
        {"tensors": {"rope_freqs.weight": np.linspace(1, 8, HEAD_SIZE // 2, dtype=np.float32)}},
    ),
    "positions made closer where all is seen": (
        "gemma3",
        {"said": {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "rope.freq_base": 1_000_000.0}},
    ),
    "a base for what slides": ("gemma3", {"said": {"rope.freq_base_swa": 500.0}}),
    "every third layer sees all": ("gemma3", {"said": {"attention.sliding_window_pattern": 3}}),
    "layers that slide by name": (
        "gemma3",
        {"said": {"attention.sliding_window_pattern": [True, False, False, True, True, False, True]}},
    ),
    "nothing slides": ("gemma3", {"said": {"attention.sliding_window": 0}}),
    "logits that are capped": ("gemma3", {"said": {"final_logit_softcapping": 2.0}}),
    "queries scaled as in 27B": ("gemma3", {"layers": 62, "head_size": 32}),
}


def ours(base: BaseWeights, adapter: LoraAdapter | None = None) -> NDArray[np.float32]:
    """Log-probabilities after each token: (tokens, vocabulary)."""
    pack = build_pack([Item(tuple(TOKENS[:1]), tuple(TOKENS[1:]))])
    with torch.no_grad():
        return torch.log_softmax(Decoder(base, adapter).logits(pack), dim=-1).numpy()


def theirs(path: Path, adapter: Path | None = None) -> NDArray[np.float32]:
    """The same by llama.cpp."""
    model = Model(path)
    context = Context(model, ContextShape(128, 1, 64, 64, 2, flash_attention=False))
    try:
        if adapter:
            context.set_adapters([(Adapter(model, adapter), 1.0)])
        context.decode([(token, place, 0, True) for place, token in enumerate(TOKENS[:-1])])
        raw = np.stack([context.logits(row) for row in range(len(TOKENS) - 1)])[:, :VOCABULARY].astype(np.float64)
    finally:
        context.close()
        model.close()
    return np.asarray(raw - np.log(np.exp(raw).sum(-1, keepdims=True)), np.float32)


def kl(reference: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """KL(reference || other) at each position, in nats."""
    return np.asarray((np.exp(reference) * (reference - other)).sum(-1), np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_are_those_of_llama_cpp_and_do_not_drift_apart(shape: str, tmp_path: Path) -> None:
    architecture, more = SHAPES[shape]
    write_random_model(tmp_path / "model.gguf", architecture, **more)
    apart = kl(theirs(tmp_path / "model.gguf"), ours(read_base(tmp_path / "model.gguf")))
    assert apart.mean() < SAME
    assert apart[len(apart) // 2 :].mean() < SAME


@pytest.mark.parametrize("shape", [name for name in SHAPES if name not in (*TRAINABLE, IGNORED)])
def test_every_shape_is_another_function_than_the_plain_one(shape: str, tmp_path: Path) -> None:
    """Or else the test above would hold whatever the decoder made of it."""
    architecture, more = SHAPES[shape]
    write_random_model(tmp_path / "model.gguf", architecture, **more)
    write_random_model(tmp_path / "plain.gguf", architecture)
    assert kl(theirs(tmp_path / "model.gguf"), theirs(tmp_path / "plain.gguf")).mean() > ANOTHER


@pytest.mark.parametrize("architecture", TRAINABLE)
def test_an_exported_adapter_is_the_trained_function_in_llama_cpp(architecture: str, tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", architecture)
    base = read_base(tmp_path / "model.gguf")
    adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(1)), 0.1)
    write_gguf(adapter, base.config, tmp_path / "adapter.gguf")
    served = theirs(tmp_path / "model.gguf", tmp_path / "adapter.gguf")
    assert kl(served, ours(base, adapter)).mean() < SAME
    assert kl(served, ours(base)).mean() > ANOTHER


@pytest.mark.parametrize("kind", [Kind.F16, Kind.BF16, Kind.Q4_0, Kind.Q8_0, Kind.Q4_K, Kind.Q6_K, Kind.IQ4_NL])
@pytest.mark.parametrize("architecture", TRAINABLE)
def test_a_quantised_model_is_the_served_one(
    architecture: str, kind: gguf.GGMLQuantizationType, tmp_path: Path
) -> None:
    write_random_model(tmp_path / "model.gguf", architecture, layers=2, width=256, head_size=64, kind=kind)
    assert kl(theirs(tmp_path / "model.gguf"), ours(read_base(tmp_path / "model.gguf"))).mean() < SAME_IN_EIGHT_BITS


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


@pytest.mark.parametrize(
    ("what", "architecture", "more"),
    [
        ("qwen2.rope.scaling.type", "qwen2", {"said": {"rope.scaling.type": "longrope"}}),
        ("llama.attention.value_length", "llama", {"said": {"attention.value_length": 8}}),
        ("qwen3.rope.dimension_count", "qwen3", {"said": {"rope.dimension_count": 8}}),
        ("llama.feed_forward_length", "llama", {"said": {"feed_forward_length": [96, 96, 96, 64, 96, 96, 96]}}),
        ("blk.3.ffn_up.bias", "llama", {"tensors": {"blk.3.ffn_up.bias": np.ones(96, np.float32)}}),
        ("blk.0.attn_q.bias", "qwen3", {"tensors": {"blk.0.attn_k.bias": np.ones(32, np.float32)}}),
        ("output.bias", "qwen2", {"tensors": {"output.bias": np.ones(VOCABULARY, np.float32)}}),
    ],
)
def test_a_shape_that_the_decoder_lacks_is_named(
    what: str, architecture: str, more: dict[str, Any], tmp_path: Path
) -> None:
    write_random_model(tmp_path / "model.gguf", architecture, **more)
    with pytest.raises(ShapeNotTrainable) as caught:
        read_base(tmp_path / "model.gguf")
    assert caught.value.facts["what"] == what


@pytest.mark.parametrize("architecture", TRAINABLE)
def test_weights_left_in_their_blocks_give_the_same_function_and_the_same_gradients(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several slabs a matrix, the last of them shorter.
    monkeypatch.setattr("trainer.model.frozen.SLAB", 256 * 24)
    path = tmp_path / "model.gguf"
    write_random_model(path, architecture, layers=2, width=256, head_size=64, kind=Kind.Q4_K)
    found = []
    for base in (read_base(path), read_base(path, settings=BLOCKS)):
        adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(1)), 0.1)
        for values in (adapter.a, adapter.b):
            for key in values:
                values[key] = values[key].detach().requires_grad_()
        scored = Decoder(base, adapter).log_probs(build_pack([Item((1, 2, 3), (4, 5, 6)), Item((1, 2), (7, 8))]))
        scored.sum().backward()
        found.append([scored.detach(), *(tensor.grad for tensor in adapter.parameters())])
    for dense, blocks in zip(*found, strict=True):
        assert dense is not None
        assert blocks is not None
        assert torch.allclose(dense, blocks, rtol=1e-4, atol=1e-5 * float(dense.abs().max()))


@pytest.mark.parametrize(("dense_share", "in_blocks"), [(1.0, False), (1e-9, True)])
def test_weights_stay_in_their_blocks_where_the_numbers_would_take_more_than_their_share_of_the_memory(
    dense_share: float, in_blocks: bool, tmp_path: Path
) -> None:
    write_random_model(tmp_path / "model.gguf", "llama")
    base = read_base(tmp_path / "model.gguf", settings=FrozenSettings(keep="auto", dense_share=dense_share))
    assert base.in_blocks is in_blocks
