"""A model of a few kilobytes that llama.cpp loads and computes with, whole or with one thing wrong in its header."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, HEADS, SHARED, INNER, LAYERS = 64, 4, 2, 96, 2
VOCABULARY = 300


def tiny_model(
    path: Path,
    *,
    architecture: str = "llama",
    meta: Mapping[str, Any] | None = None,
    tokens: list[str] | None = None,
    kinds: Mapping[str, gguf.GGMLQuantizationType] | None = None,
) -> Path:
    """Write it to ``path``.

    ``meta``: entries that are otherwise than they should be (None: left out); ``kinds``: what tensors claim to be.
    """
    writer = gguf.GGUFWriter(path, architecture)
    entries: dict[str, Any] = {
        "general.name": "tiny",
        f"{architecture}.block_count": LAYERS,
        f"{architecture}.context_length": 256,
        f"{architecture}.embedding_length": WIDTH,
        f"{architecture}.feed_forward_length": INNER,
        f"{architecture}.attention.head_count": HEADS,
        f"{architecture}.attention.head_count_kv": SHARED,
        f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens or _tokens(),
        "tokenizer.ggml.token_type": [1] * VOCABULARY,
        "tokenizer.ggml.merges": ["a b", "b c"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    for key, value in (entries | dict(meta or {})).items():
        if value is not None:
            _add(writer, key, value)
    for name, shape in _tensors(architecture):
        numbers = np.random.default_rng(len(name)).normal(size=shape, scale=0.05).astype(np.float32)
        kind = (kinds or {}).get(name)
        if kind == gguf.GGMLQuantizationType.F16:
            writer.add_tensor(name, numbers.astype(np.float16))
        else:
            writer.add_tensor(name, numbers, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def _tokens() -> list[str]:
    """Letters that stand for every byte, as GPT-2's vocabulary has them, and a few more."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in plain] + [chr(256 + number) for number in range(256 - len(plain))]
    return letters + [f"<t{number}>" for number in range(VOCABULARY - len(letters))]


def _tensors(architecture: str) -> list[tuple[str, tuple[int, ...]]]:
    head = WIDTH // HEADS
    found: list[tuple[str, tuple[int, ...]]] = [
        ("token_embd.weight", (VOCABULARY, WIDTH)),
        ("output_norm.weight", (WIDTH,)),
    ]
    for layer in range(LAYERS):
        shapes = {
            "attn_norm": (WIDTH,), "attn_q": (WIDTH, WIDTH), "attn_k": (SHARED * head, WIDTH),
            "attn_v": (SHARED * head, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_norm": (WIDTH,),
            "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
        }  # fmt: skip
        if architecture == "qwen3":
            shapes |= {"attn_q_norm": (head,), "attn_k_norm": (head,)}
        found += [(f"blk.{layer}.{name}.weight", shape) for name, shape in shapes.items()]
    return found
