"""What llama.cpp does not refuse but dies of: values in the header of a model that end the process that loads it.

Each rule stands for an assertion in llama.cpp's source (``llama-model.cpp``, ``llama-vocab.cpp``, ggml's operators) or
for something that mutated headers brought to light; ``tests/engine/test_gguf_mutants.py`` looks for more.
"""

from __future__ import annotations

import math
from typing import Any

from engine.gguf_reader import BLOCKS, Array, Contents, Malformed, whole

MOST_LAYERS = 512  # LLAMA_MAX_LAYERS
MOST_EXPERTS = 1024  # LLAMA_MAX_EXPERTS
ROPE_SCALINGS = ("none", "linear", "yarn", "longrope")
SENTENCEPIECE = "llama"
FLOAT32 = 0
ADDED = ("_norm.weight", ".bias")  # what is added to or multiplied with, number by number
# Kinds of numbers that nothing multiplies by: integers, doubles, and two that only intermediate results have.
NO_WEIGHTS = (9, 15, 24, 25, 26, 27, 28)
INTEGER_TENSORS = ("tid2eid",)  # tables of expert numbers


def check_model(contents: Contents, architecture: str) -> None:
    """Raises Malformed for what would end the process that loads this model."""
    _check_split(contents)
    _check_layers(contents, architecture)
    _check_experts(contents, architecture)
    _check_attention(contents, architecture)
    _check_vocabulary(contents)
    _check_kinds(contents)


def _check_split(contents: Contents) -> None:
    count = contents.get("split.count", 0)
    if isinstance(count, int) and count > 1:
        raise Malformed(f"one file of {count} that make the model together")


def _check_layers(contents: Contents, architecture: str) -> None:
    layers = contents.get(f"{architecture}.block_count")
    if layers is None:
        # Not a language model; llama.cpp refuses what it cannot read without it.
        return
    if not isinstance(layers, int) or not 0 < layers <= MOST_LAYERS:
        raise Malformed(f"{layers} layers")
    if _most(contents, f"{architecture}.nextn_predict_layers") > layers:
        raise Malformed("more layers that look ahead than layers")


def _check_experts(contents: Contents, architecture: str) -> None:
    experts = _most(contents, f"{architecture}.expert_count")
    used = _most(contents, f"{architecture}.expert_used_count")
    groups = _most(contents, f"{architecture}.expert_group_count")
    groups_used = _most(contents, f"{architecture}.expert_group_used_count")
    wrong = experts > MOST_EXPERTS or used > experts or bool(experts) != bool(used) or groups > max(0, experts - 1)
    if groups > 1:
        wrong = wrong or bool(experts % groups) or not 0 < groups_used < groups
    if wrong:
        raise Malformed(f"{experts} experts in {groups} groups, of which {used} are used")


def _check_attention(contents: Contents, architecture: str) -> None:
    heads = contents.get(f"{architecture}.attention.head_count")
    shared = contents.get(f"{architecture}.attention.head_count_kv", heads)
    for count, of in zip(whole(heads), whole(shared), strict=False):
        if count and of and count % of:
            raise Malformed(f"{count} attention heads over {of} of keys and values")
    _check_each_layer(contents, architecture, heads, shared)
    turned = _most(contents, f"{architecture}.rope.dimension_count") or _head_size(contents, architecture)
    if turned % 2:
        raise Malformed(f"{turned} dimensions that turn with the position; they turn in pairs")
    scaling = contents.get(f"{architecture}.rope.scaling.type", "linear")
    if scaling not in ROPE_SCALINGS:
        raise Malformed(f"the unknown way of scaling positions {scaling!r:.40}")
    for norm in ("layer_norm_rms_epsilon", "layer_norm_epsilon", "group_norm_epsilon"):
        epsilon = contents.get(f"{architecture}.attention.{norm}", 0.0)
        if not isinstance(epsilon, float) or not math.isfinite(epsilon) or epsilon < 0:
            raise Malformed(f"{norm} of {epsilon}")


def _check_each_layer(contents: Contents, architecture: str, heads: Any, shared: Any) -> None:
    """Where layers differ in their heads, each one's weights must be of its own heads."""
    for projection, counts in (("attn_q", heads), ("attn_k", shared)):
        if not isinstance(counts, Array) or len(set(counts.values or ())) <= 1:
            continue
        sizes = [_head_size(contents, architecture), _most(contents, f"{architecture}.attention.key_length_swa")]
        for layer, count in enumerate(whole(counts)):
            tensor = contents.tensors.get(f"blk.{layer}.{projection}.weight")
            if tensor and tensor.shape[-1] not in [count * size for size in sizes]:
                raise Malformed(f"the layer {layer} has not the weights of its {count} heads")


def _head_size(contents: Contents, architecture: str) -> int:
    """Numbers in a key of one head; 0 where the header does not say."""
    stated = _most(contents, f"{architecture}.attention.key_length")
    heads = next((count for count in whole(contents.get(f"{architecture}.attention.head_count")) if count), 0)
    return stated or (_most(contents, f"{architecture}.embedding_length") // heads if heads else 0)


def _check_vocabulary(contents: Contents) -> None:
    known = contents.vocabulary
    if len(known.texts) + known.empty != known.count:
        raise Malformed("a token is in its vocabulary twice")
    if contents.get("tokenizer.ggml.model") == SENTENCEPIECE and known.count:
        # What is no token is spelt in bytes, and each of them has to be one.
        spelt = all(b"<0x%02X>" % byte in known.texts or bytes([byte]) in known.texts for byte in range(256))
        if not spelt:
            raise Malformed("its vocabulary cannot spell every text")


def _check_kinds(contents: Contents) -> None:
    for name, tensor in contents.tensors.items():
        if any(part in name for part in INTEGER_TENSORS):
            continue
        flat = len(tensor.shape) == 1 or name.endswith(ADDED)
        if tensor.kind in NO_WEIGHTS or (flat and tensor.kind != FLOAT32):
            block, size = BLOCKS[tensor.kind]
            raise Malformed(f"{name} has weights of a kind that cannot be computed with ({size} bytes for {block})")


def _most(contents: Contents, key: str) -> int:
    """The largest of the numbers that ``key`` has; 0 where it has none."""
    return max(whole(contents.get(key)), default=0)
