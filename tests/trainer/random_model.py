"""Small random models of each architecture as GGUF files that llama.cpp loads: shapes without a real model's weight."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from engine.library import library

Kind = gguf.GGMLQuantizationType
WIDTH, HEADS, KV_HEADS, HEAD_SIZE, FEED_FORWARD, VOCABULARY = 64, 4, 2, 16, 96, 256


def write_random_model(
    path: Path,
    architecture: str,
    *,
    layers: int = 7,
    width: int = WIDTH,
    head_size: int = HEAD_SIZE,
    untied: bool = False,
    kind: gguf.GGMLQuantizationType = Kind.F32,
    said: Mapping[str, Any] | None = None,
    tensors: Mapping[str, NDArray[np.float32]] | None = None,
    seed: int = 0,
) -> None:
    """A model of ``architecture``, its matrices of one ``kind``, with no vocabulary but numbers.

    ``said``: metadata under the architecture's keys, beside or instead of the usual; ``tensors``: more of them.
    """
    random = np.random.default_rng(seed)
    feed_forward = max(FEED_FORWARD, width)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(128)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(head_size)
    writer.add_value_length(head_size)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(head_size)
    writer.add_vocab_size(VOCABULARY)
    if architecture == "gemma3":
        writer.add_sliding_window(8)
    writer.add_tokenizer_model("no_vocab")
    for key, value in (said or {}).items():
        _say(writer, f"{architecture}.{key}", value)

    def matrix(name: str, rows: int, columns: int) -> None:
        values = (random.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)
        writer.add_tensor(name, quantised(values, kind), raw_dtype=kind)

    def vector(name: str, size: int, *, gain: bool = True) -> None:
        values = random.standard_normal(size) * 0.2 + (1.0 if gain else 0.0)
        writer.add_tensor(name, values.astype(np.float32))

    matrix("token_embd.weight", VOCABULARY, width)
    vector("output_norm.weight", width)
    if untied:
        matrix("output.weight", VOCABULARY, width)
    for name, values in (tensors or {}).items():
        writer.add_tensor(name, values)
    queries, keys = HEADS * head_size, KV_HEADS * head_size
    for layer in range(layers):
        block = f"blk.{layer}."
        vector(block + "attn_norm.weight", width)
        vector(block + "ffn_norm.weight", width)
        matrix(block + "attn_q.weight", queries, width)
        matrix(block + "attn_k.weight", keys, width)
        matrix(block + "attn_v.weight", keys, width)
        matrix(block + "attn_output.weight", width, queries)
        matrix(block + "ffn_gate.weight", feed_forward, width)
        matrix(block + "ffn_up.weight", feed_forward, width)
        matrix(block + "ffn_down.weight", width, feed_forward)
        if architecture == "qwen2":
            for part, size in (("q", queries), ("k", keys), ("v", keys)):
                vector(f"{block}attn_{part}.bias", size, gain=False)
        if architecture in ("qwen3", "gemma3"):
            vector(block + "attn_q_norm.weight", head_size)
            vector(block + "attn_k_norm.weight", head_size)
        if architecture == "gemma3":
            vector(block + "post_attention_norm.weight", width)
            vector(block + "post_ffw_norm.weight", width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantised(values: NDArray[np.float32], kind: gguf.GGMLQuantizationType) -> NDArray[Any]:
    """``values`` [rows, columns] as llama.cpp writes them in ``kind``: uint8 [rows, bytes], or themselves."""
    if kind == Kind.F32:
        return values
    rows, columns = values.shape
    block, size = gguf.GGML_QUANT_SIZES[kind]
    raw = np.empty((rows, columns // block * size), dtype=np.uint8)
    quantise = library()._lib.ggml_quantize_chunk
    quantise.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p]
    quantise.restype = ctypes.c_size_t
    quantise(kind, values.ctypes.data, raw.ctypes.data, 0, rows, columns, None)
    return raw


def _say(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    if isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, list):
        writer.add_array(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    else:
        writer.add_uint32(key, value)
