"""The few numbers that tell one decoder from another, as a GGUF's metadata has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainer.model.rope import Rope

TRAINABLE = ("llama", "qwen2", "qwen3", "gemma3")
SLIDING_PERIOD = 6  # of gemma3 files that do not say it
SLIDING_ROPE_BASE = 10_000.0  # of gemma3 files that do not say it
GEMMA3_27B_LAYERS = 62  # the one size whose queries are scaled by another width than that of their heads


class UnknownShape(Exception):
    """``what``: the metadata key or the tensor that the decoder does not know."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


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
    norm_epsilon: float
    rope: Rope
    sliding_rope: Rope
    attention_scale: float
    activation: Literal["silu", "gelu"] = "silu"
    embedding_scale: float = 1.0
    logit_cap: float = 0.0  # logits are bent to stay below it; 0: they are not
    sliding_window: int = 0  # tokens that a sliding layer looks back
    sliding_layers: tuple[int, ...] = ()  # the others see everything

    @property
    def rows_permuted(self) -> bool:
        """Whether GGUF holds q and k rows in the interleaved order of llama.cpp's plain RoPE."""
        return self.architecture == "llama"


def config_from_metadata(metadata: Mapping[str, Any], vocabulary: int) -> DecoderConfig:
    """The config that a GGUF's key-value pairs describe, as llama.cpp understands them.

    Raises UnknownShape for what the decoder does not have, and for a key that is not there.
    """
    said = _Said(metadata)
    width, heads, layers = (said.whole(key) for key in ("embedding_length", "attention.head_count", "block_count"))
    head_size = said.whole("attention.key_length", width // heads)
    for key in ("attention.value_length", "rope.dimension_count", "attention.key_length_swa",
                "attention.value_length_swa", "rope.dimension_count_swa"):  # fmt: skip
        if said.whole(key, width // heads if key == "attention.value_length" else head_size) != head_size:
            raise UnknownShape(said.key(key))
    if not said.value("attention.causal", True):
        raise UnknownShape(said.key("attention.causal"))
    rope = _rope(said)
    common: dict[str, Any] = {
        "architecture": said.architecture,
        "layers": layers,
        "width": width,
        "heads": heads,
        "kv_heads": said.whole("attention.head_count_kv", heads),
        "head_size": head_size,
        "feed_forward": said.whole("feed_forward_length"),
        "vocabulary": vocabulary,
        "context_length": said.whole("context_length"),
        "norm_epsilon": float(said.value("attention.layer_norm_rms_epsilon")),
        "rope": rope,
        "sliding_rope": rope,
        "attention_scale": 1.0 / math.sqrt(head_size),
    }
    if said.architecture == "gemma3":
        common |= _gemma3(said, layers, width, heads, head_size, rope)
    return DecoderConfig(**common)


def _gemma3(said: _Said, layers: int, width: int, heads: int, head_size: int, rope: Rope) -> dict[str, Any]:
    """What gemma3 has beside the others (arXiv 2503.19786)."""
    scaled = width // heads if layers == GEMMA3_27B_LAYERS else head_size
    window = said.whole("attention.sliding_window", 0)
    return {
        "activation": "gelu",
        "attention_scale": 1.0 / math.sqrt(scaled),
        "embedding_scale": math.sqrt(width),
        "logit_cap": float(said.value("final_logit_softcapping", 0.0)),
        "sliding_window": window,
        "sliding_layers": _sliding(said, layers) if window else (),
        # Only what sees everything was stretched.
        "sliding_rope": Rope(float(said.value("rope.freq_base_swa", SLIDING_ROPE_BASE)), magnitude=rope.magnitude),
    }


def _sliding(said: _Said, layers: int) -> tuple[int, ...]:
    """The layers that slide: one truth value a layer, or every n-th does not."""
    pattern = said.value("attention.sliding_window_pattern", SLIDING_PERIOD)
    if isinstance(pattern, tuple):
        return tuple(layer for layer, slides in enumerate(pattern[:layers]) if slides)
    return tuple(layer for layer in range(layers) if not pattern or (layer + 1) % pattern)


def _rope(said: _Said) -> Rope:
    kind = said.value("rope.scaling.type", "linear")
    if kind not in ("none", "linear", "yarn"):
        raise UnknownShape(said.key("rope.scaling.type"))
    stretch = float(said.value("rope.scaling.factor", said.value("rope.scale_linear", 0.0)) or 1.0)
    context = said.whole("rope.scaling.original_context_length", said.whole("context_length"))
    return Rope(
        base=float(said.value("rope.freq_base", 10_000.0)),
        stretch=1.0 if kind == "none" else stretch,
        magnitude=float(said.value("rope.scaling.attn_factor", 1.0)),
        yarn_context=context if kind == "yarn" else 0,
    )


class _Said:
    """What the metadata says under the architecture's own keys."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self.architecture = str(metadata["general.architecture"])
        self._metadata = metadata

    def key(self, name: str) -> str:
        return f"{self.architecture}.{name}"

    def value(self, name: str, default: Any = None) -> Any:
        found = self._metadata.get(self.key(name), default)
        if found is None:
            raise UnknownShape(self.key(name))
        return found

    def whole(self, name: str, default: int | None = None) -> int:
        """A number that is the same for all layers."""
        found = self.value(name, default)
        values = set(found) if isinstance(found, tuple) else {found}
        if len(values) != 1:
            raise UnknownShape(self.key(name))
        return int(values.pop())
