"""A model of 1.5 billion weights in Q4_K that says nothing, for what only size shows."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

# The shape of Qwen2.5-1.5B (arXiv 2412.15115).
LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_SIZE, FEED_FORWARD, VOCABULARY = 28, 1536, 12, 2, 128, 8960, 151_936
KIND = gguf.GGMLQuantizationType.Q4_K
TILE = 64  # rows that are made; the others repeat them
# Of block_q4_K (ggml-common.h): a weight is 63 * (SCALE * quant - LEAST), about as large as in a fresh matrix.
SCALE, LEAST = 8.0e-5, 6.0e-4
HEAD, SCALES = 4, 12  # bytes


def write_large_model(path: Path) -> int:
    """Write it; how many weights its matrices have."""
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), "qwen2")
    writer.add_context_length(32_768)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")
    count = 0

    def matrix(name: str, rows: int, columns: int) -> None:
        nonlocal count
        count += rows * columns
        writer.add_tensor(name, np.tile(_blocks(random, TILE, columns), (rows // TILE, 1)), raw_dtype=KIND)

    def vector(name: str, size: int, value: float) -> None:
        writer.add_tensor(name, np.full(size, value, dtype=np.float32))

    matrix("token_embd.weight", VOCABULARY, WIDTH)
    vector("output_norm.weight", WIDTH, 1.0)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        vector(f"{block}attn_norm.weight", WIDTH, 1.0)
        vector(f"{block}ffn_norm.weight", WIDTH, 1.0)
        for part, size in (("q", HEADS * HEAD_SIZE), ("k", KV_HEADS * HEAD_SIZE), ("v", KV_HEADS * HEAD_SIZE)):
            matrix(f"{block}attn_{part}.weight", size, WIDTH)
            vector(f"{block}attn_{part}.bias", size, 0.0)
        matrix(f"{block}attn_output.weight", WIDTH, HEADS * HEAD_SIZE)
        matrix(f"{block}ffn_gate.weight", FEED_FORWARD, WIDTH)
        matrix(f"{block}ffn_up.weight", FEED_FORWARD, WIDTH)
        matrix(f"{block}ffn_down.weight", WIDTH, FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return count


def _blocks(random: np.random.Generator, rows: int, columns: int) -> NDArray[np.uint8]:
    """Random weights around zero: [rows, bytes]. A block is two float16, twelve bytes of scales, and the quants."""
    weights, size = gguf.GGML_QUANT_SIZES[KIND]
    blocks = random.integers(0, 256, size=(rows, columns // weights, size), dtype=np.uint8)
    blocks[..., :HEAD] = np.array([SCALE, LEAST], dtype=np.float16).view(np.uint8)
    # The largest scale for each part of a block.
    blocks[..., HEAD : HEAD + SCALES] = 0xFF
    return blocks.reshape(rows, -1)
