"""A served GGUF as the decoder's weights: dequantised, in the order that half-rotation RoPE wants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from trainer.errors import NotTrainable
from trainer.model.config import TRAINABLE, DecoderConfig, config_from_metadata
from trainer.model.gguf_file import GGUFFile


@dataclass(frozen=True)
class LayerWeights:
    """One layer. Matrices are [out, in] in the compute dtype; norms and biases are float32."""

    qkv: torch.Tensor
    output: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor
    attention_norm: torch.Tensor
    feed_forward_norm: torch.Tensor
    qkv_bias: torch.Tensor | None
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    post_attention_norm: torch.Tensor | None
    post_feed_forward_norm: torch.Tensor | None


@dataclass(frozen=True)
class BaseWeights:
    """A whole base model. ``embedding`` and ``head`` are [vocabulary, width], float32, one tensor where tied."""

    config: DecoderConfig
    embedding: torch.Tensor
    head: torch.Tensor
    final_norm: torch.Tensor
    layers: tuple[LayerWeights, ...]


def permutation(heads: int, head_size: int) -> NDArray[np.int64]:
    """``gguf_rows = rows[permutation]``: half-split row order to llama.cpp's interleaved one (convert_hf_to_gguf)."""
    index = np.arange(heads * head_size).reshape(heads, 2, head_size // 2)
    return index.swapaxes(1, 2).reshape(-1)


def read_base(path: Path, dtype: torch.dtype = torch.float32) -> BaseWeights:
    """The weights in ``path``, matrices in ``dtype``. Raises NotTrainable for a shape that the decoder lacks."""
    file = GGUFFile(path)
    architecture = str(file.metadata["general.architecture"])
    if architecture not in TRAINABLE:
        raise NotTrainable(path=str(path), architecture=architecture, trainable=", ".join(TRAINABLE))

    def vector(name: str) -> torch.Tensor | None:
        return torch.from_numpy(file.array(name)) if name in file else None

    embedding = torch.from_numpy(file.array("token_embd.weight"))
    config = config_from_metadata(file.metadata, vocabulary=embedding.shape[0])
    unpermute = {
        "q": np.argsort(permutation(config.heads, config.head_size)),
        "k": np.argsort(permutation(config.kv_heads, config.head_size)),
    }

    def rows(name: str, part: str) -> NDArray[np.float32]:
        values = file.array(name)
        return values[unpermute[part]] if config.rows_permuted and part in unpermute else values

    def stacked(layer: int, parts: tuple[tuple[str, str], ...]) -> torch.Tensor:
        values = [rows(f"blk.{layer}.{name}.weight", part) for name, part in parts]
        return torch.from_numpy(np.concatenate(values)).to(dtype)

    def bias(layer: int) -> torch.Tensor | None:
        names = [(f"blk.{layer}.attn_{part}.bias", part) for part in "qkv"]
        if not all(name in file for name, _ in names):
            return None
        return torch.from_numpy(np.concatenate([rows(name, part) for name, part in names]))

    def required(name: str) -> torch.Tensor:
        return torch.from_numpy(file.array(name))

    layers = tuple(
        LayerWeights(
            qkv=stacked(i, (("attn_q", "q"), ("attn_k", "k"), ("attn_v", "v"))),
            output=stacked(i, (("attn_output", ""),)),
            gate_up=stacked(i, (("ffn_gate", ""), ("ffn_up", ""))),
            down=stacked(i, (("ffn_down", ""),)),
            attention_norm=required(f"blk.{i}.attn_norm.weight"),
            feed_forward_norm=required(f"blk.{i}.ffn_norm.weight"),
            qkv_bias=bias(i),
            query_norm=vector(f"blk.{i}.attn_q_norm.weight"),
            key_norm=vector(f"blk.{i}.attn_k_norm.weight"),
            post_attention_norm=vector(f"blk.{i}.post_attention_norm.weight"),
            post_feed_forward_norm=vector(f"blk.{i}.post_ffw_norm.weight"),
        )
        for i in range(config.layers)
    )
    head = torch.from_numpy(file.array("output.weight")) if "output.weight" in file else embedding
    return BaseWeights(config, embedding, head, required("output_norm.weight"), layers)
