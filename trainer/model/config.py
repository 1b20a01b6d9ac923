"""The few numbers that tell one decoder from another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

TRAINABLE = ("llama", "qwen2", "qwen3", "gemma3")


@dataclass(frozen=True)
class DecoderConfig:
    """A decoder-only transformer: RMSNorm, gated feed-forward, RoPE, grouped-query attention."""

    architecture: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_size: int
    feed_forward: int
    vocabulary: int
    context_length: int
    rope_base: float
    norm_epsilon: float
    activation: Literal["silu", "gelu"] = "silu"
    embedding_scale: float = 1.0
    query_scale: float = 0.0
    sliding_window: int = 0  # tokens a sliding layer looks back; 0: every layer sees everything
    sliding_pattern: int = 0  # every n-th layer sees everything, the others slide
    sliding_rope_base: float = 0.0

    @property
    def attention_scale(self) -> float:
        return self.query_scale or 1.0 / math.sqrt(self.head_size)

    @property
    def rows_permuted(self) -> bool:
        """Whether GGUF holds q and k rows in the interleaved order of llama.cpp's plain RoPE."""
        return self.architecture == "llama"

    def slides(self, layer: int) -> bool:
        """Whether ``layer`` looks back only ``sliding_window`` tokens."""
        return bool(self.sliding_window and self.sliding_pattern and (layer + 1) % self.sliding_pattern)


def config_from_metadata(metadata: Mapping[str, Any], vocabulary: int) -> DecoderConfig:
    """The config that a GGUF's key-value pairs describe. KeyError names a key that is not there."""
    architecture = str(metadata["general.architecture"])

    def value(key: str, default: Any = None) -> Any:
        full = f"{architecture}.{key}"
        return metadata[full] if default is None else metadata.get(full, default)

    width, heads = int(value("embedding_length")), int(value("attention.head_count"))
    gemma = architecture == "gemma3"
    return DecoderConfig(
        architecture=architecture,
        layers=int(value("block_count")),
        width=width,
        heads=heads,
        kv_heads=int(value("attention.head_count_kv", heads)),
        head_size=int(value("attention.key_length", width // heads)),
        feed_forward=int(value("feed_forward_length")),
        vocabulary=vocabulary,
        context_length=int(value("context_length")),
        rope_base=float(value("rope.freq_base", 1_000_000.0 if gemma else 10_000.0)),
        norm_epsilon=float(value("attention.layer_norm_rms_epsilon")),
        activation="gelu" if gemma else "silu",
        embedding_scale=math.sqrt(width) if gemma else 1.0,
        sliding_window=int(value("attention.sliding_window", 0)) if gemma else 0,
        sliding_pattern=6 if gemma else 0,
        sliding_rope_base=10_000.0 if gemma else 0.0,
    )
