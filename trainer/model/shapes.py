"""Whether a GGUF is a decoder that can be trained: its architecture, its numbers, and each of its tensors."""

from __future__ import annotations

from collections.abc import Iterator

from trainer.errors import NotTrainable, ShapeNotTrainable
from trainer.model.config import TRAINABLE, DecoderConfig, UnknownShape, config_from_metadata
from trainer.model.gguf_file import GGUFFile

EMBEDDING, HEAD, FINAL_NORM, ROPE_FACTORS = (
    "token_embd.weight", "output.weight", "output_norm.weight", "rope_freqs.weight",
)  # fmt: skip
OPTIONAL = (HEAD, ROPE_FACTORS, "_q.bias", "_k.bias", "_v.bias")


def trainable_config(file: GGUFFile) -> DecoderConfig:
    """The config of a model that can be trained. Raises NotTrainable and ShapeNotTrainable."""
    architecture = str(file.metadata["general.architecture"])
    said = {"path": str(file.path), "architecture": architecture, "trainable": ", ".join(TRAINABLE)}
    if architecture not in TRAINABLE:
        raise NotTrainable(**said)
    try:
        vocabulary = file.shape(EMBEDDING)[0] if EMBEDDING in file else 0
        config = config_from_metadata(file.metadata, vocabulary)
        _check_tensors(file, config)
    except UnknownShape as error:
        raise ShapeNotTrainable(**said, what=error.what) from error
    return config


def _check_tensors(file: GGUFFile, config: DecoderConfig) -> None:
    """Every tensor there that has to be, in its shape, and none beside them: it would be left out. UnknownShape."""
    known = dict(_tensors(config))
    for name, shape in known.items():
        if (file.shape(name) != shape) if name in file else not name.endswith(OPTIONAL):
            raise UnknownShape(name)
    for name in file.names:
        if name not in known:
            raise UnknownShape(name)
    for layer in range(config.layers):
        biases = [name in file for name in (f"blk.{layer}.attn_{part}.bias" for part in "qkv")]
        if any(biases) and not all(biases):
            raise UnknownShape(f"blk.{layer}.attn_q.bias")


def _tensors(config: DecoderConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape, outermost first, of each tensor that the decoder knows."""
    width, queries, keys = config.width, config.heads * config.head_size, config.kv_heads * config.head_size
    yield EMBEDDING, (config.vocabulary, width)
    yield HEAD, (config.vocabulary, width)
    yield FINAL_NORM, (width,)
    if config.architecture == "llama":
        yield ROPE_FACTORS, (config.head_size // 2,)
    for layer in range(config.layers):
        block = f"blk.{layer}."
        for part, size in (("q", queries), ("k", keys), ("v", keys)):
            yield f"{block}attn_{part}.weight", (size, width)
            yield f"{block}attn_{part}.bias", (size,)
        yield f"{block}attn_output.weight", (width, queries)
        yield f"{block}ffn_gate.weight", (config.feed_forward, width)
        yield f"{block}ffn_up.weight", (config.feed_forward, width)
        yield f"{block}ffn_down.weight", (width, config.feed_forward)
        yield f"{block}attn_norm.weight", (width,)
        yield f"{block}ffn_norm.weight", (width,)
        if config.architecture in ("qwen3", "gemma3"):
            yield f"{block}attn_q_norm.weight", (config.head_size,)
            yield f"{block}attn_k_norm.weight", (config.head_size,)
        if config.architecture == "gemma3":
            yield f"{block}post_attention_norm.weight", (width,)
            yield f"{block}post_ffw_norm.weight", (width,)
