"""Small random models of each architecture as GGUF files that llama.cpp loads: shapes without a real model's weight."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, KV_HEADS, HEAD_SIZE, FEED_FORWARD, VOCABULARY = 64, 4, 2, 16, 96, 256


def write_random_model(path: Path, architecture: str, *, layers: int = 7, seed: int = 0) -> None:
    """A model of ``architecture`` with float32 weights and a byte vocabulary."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_SIZE)
    writer.add_value_length(HEAD_SIZE)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(HEAD_SIZE)
    writer.add_vocab_size(VOCABULARY)
    if architecture == "gemma3":
        writer.add_sliding_window(8)
    writer.add_tokenizer_model("no_vocab")

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, (random.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32))

    def vector(name: str, size: int, *, gain: bool = True) -> None:
        values = random.standard_normal(size) * 0.2 + (1.0 if gain else 0.0)
        writer.add_tensor(name, values.astype(np.float32))

    matrix("token_embd.weight", VOCABULARY, WIDTH)
    vector("output_norm.weight", WIDTH)
    if architecture == "llama":
        matrix("output.weight", VOCABULARY, WIDTH)
    queries, keys = HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE
    for layer in range(layers):
        block = f"blk.{layer}."
        vector(block + "attn_norm.weight", WIDTH)
        vector(block + "ffn_norm.weight", WIDTH)
        matrix(block + "attn_q.weight", queries, WIDTH)
        matrix(block + "attn_k.weight", keys, WIDTH)
        matrix(block + "attn_v.weight", keys, WIDTH)
        matrix(block + "attn_output.weight", WIDTH, queries)
        matrix(block + "ffn_gate.weight", FEED_FORWARD, WIDTH)
        matrix(block + "ffn_up.weight", FEED_FORWARD, WIDTH)
        matrix(block + "ffn_down.weight", WIDTH, FEED_FORWARD)
        if architecture == "qwen2":
            for part, size in (("q", queries), ("k", keys), ("v", keys)):
                vector(f"{block}attn_{part}.bias", size, gain=False)
        if architecture in ("qwen3", "gemma3"):
            vector(block + "attn_q_norm.weight", HEAD_SIZE)
            vector(block + "attn_k_norm.weight", HEAD_SIZE)
        if architecture == "gemma3":
            vector(block + "post_attention_norm.weight", WIDTH)
            vector(block + "post_ffw_norm.weight", WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
