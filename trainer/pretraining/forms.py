"""The weights of a trained model in two forms: GGUF (architecture ``qwen3``), and ``Qwen3ForCausalLM`` of Hugging Face.

GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. q and k are permuted in neither: both turn halves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from safetensors.torch import save

from configs import disk
from configs.pretraining.schema import Run
from trainer.model.adapter_file import GGUF_NAMES
from trainer.model.fresh import Parameter
from trainer.model.lora import PRODUCTS
from trainer.model.shapes import EMBEDDING, FINAL_NORM
from trainer.pretraining.shape import ARCHITECTURE
from trainer.room import room_at, write_whole
from trainer.tokenizer.chat import turn_end
from trainer.tokenizer.forms import add_to_gguf
from trainer.tokenizer.forms import write_hugging_face as write_tokenizer
from trainer.tokenizer.tokenizer import Tokenizer

# What stands outside the layers, then the gains in each layer: ours, GGUF's, Hugging Face's.
OUTSIDE = {
    "embedding": (EMBEDDING, "model.embed_tokens.weight"),
    "final_norm": (FINAL_NORM, "model.norm.weight"),
}
GAINS = {
    "attention_norm": ("attn_norm", "input_layernorm"),
    "feed_forward_norm": ("ffn_norm", "post_attention_layernorm"),
    "query_norm": ("attn_q_norm", "self_attn.q_norm"),
    "key_norm": ("attn_k_norm", "self_attn.k_norm"),
}
HUGGING_FACE_NAMES = {
    "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
}  # fmt: skip


def write_gguf(parameters: Sequence[Parameter], run: Run, tokenizer: Tokenizer, path: Path) -> None:
    """Matrices in float16, gains in float32, whole or not at all. Raises NoRoom."""
    shape = run.model
    with room_at(path), disk.put_in_place(path, alone=True) as aside:
        writer = gguf.GGUFWriter(str(aside), ARCHITECTURE)
        writer.add_name(run.name)
        writer.add_languages([run.data.language])
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
        writer.add_context_length(shape.context)
        writer.add_embedding_length(shape.width)
        writer.add_block_count(shape.layers)
        writer.add_feed_forward_length(shape.feed_forward)
        writer.add_head_count(shape.heads)
        writer.add_head_count_kv(shape.kv_heads)
        writer.add_key_length(shape.head_size)
        writer.add_value_length(shape.head_size)
        writer.add_layer_norm_rms_eps(shape.norm_epsilon)
        writer.add_rope_freq_base(shape.rope_base)
        writer.add_vocab_size(shape.vocabulary)
        add_to_gguf(writer, tokenizer)
        for ours, _, tensor in _named(parameters):
            numbers = tensor.numpy()
            writer.add_tensor(ours, numbers.astype(np.float16) if tensor.dim() > 1 else numbers)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def write_hugging_face(parameters: Sequence[Parameter], run: Run, tokenizer: Tokenizer, folder: Path) -> int:
    """Weights in float32, configuration and tokenizer for transformers; bytes of the weights. Raises NoRoom."""
    content = save({name: tensor for _, name, tensor in _named(parameters)}, metadata={"format": "pt"})
    write_whole(folder / "model.safetensors", content)
    write_tokenizer(folder, tokenizer, run.model.context)
    write_whole(folder / "config.json", json.dumps(_config(run, tokenizer), indent=1).encode())
    return len(content)


def _named(parameters: Sequence[Parameter]) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Every tensor by GGUF's name and by Hugging Face's; what is one product here is several there."""
    for each in parameters:
        layer, _, name = each.name.rpartition(".")
        whole = each.tensor.detach()
        if each.name in OUTSIDE:
            yield *OUTSIDE[each.name], whole
        elif name in GAINS:
            ours, theirs = GAINS[name]
            yield f"blk.{layer}.{ours}.weight", f"model.layers.{layer}.{theirs}.weight", whole
        else:
            for part, tensor in zip(PRODUCTS[name], whole.split(each.parts), strict=True):
                theirs = f"model.layers.{layer}.{HUGGING_FACE_NAMES[part]}.weight"
                yield f"blk.{layer}.{GGUF_NAMES[part]}.weight", theirs, tensor.contiguous()


def _config(run: Run, tokenizer: Tokenizer) -> dict[str, Any]:
    """https://huggingface.co/docs/transformers/model_doc/qwen3"""
    shape = run.model
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_size,
        "hidden_act": "silu",
        "max_position_embeddings": shape.context,
        "initializer_range": shape.initial_std,
        "rms_norm_eps": shape.norm_epsilon,
        "rope_theta": shape.rope_base,
        "rope_scaling": None,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": shape.layers,
        "use_cache": True,
        "bos_token_id": None,
        "eos_token_id": turn_end(tokenizer),
        "pad_token_id": tokenizer.end,
        "torch_dtype": "float32",
    }
