"""A trained adapter as files: GGUF for llama.cpp, safetensors between the stages."""

from __future__ import annotations

import errno
from pathlib import Path

import gguf
import numpy as np
import torch

from configs.disk import put_in_place
from engine.routes import ROUTE_KEY, Route
from trainer.model.changes import LORA_A, LORA_B, alpha_of, factors_in
from trainer.model.config import DecoderConfig
from trainer.model.gguf_file import GGUFFile
from trainer.model.lora import PRODUCTS, LoraAdapter
from trainer.model.reading import permutation

GGUF_NAMES = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
    "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}  # fmt: skip


def write_gguf(adapter: LoraAdapter, config: DecoderConfig, path: Path, route: Route | None = None) -> None:
    """Write the adapter for llama.cpp, float32, whole or not at all. Raises OSError.

    ``route``: the conversations that it is for, which goes with the weights wherever they go.

    llama.cpp multiplies by alpha / rank itself. For the ``llama`` architecture the rows of q and k are interleaved
    in the base's file, so B's rows are brought into that order too (A's columns are the input and stay).
    """
    with put_in_place(path, alone=True) as aside:
        writer = gguf.GGUFWriter(str(aside), config.architecture)
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
        writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, adapter.alpha)
        if route:
            writer.add_string(ROUTE_KEY, route.as_text())
        heads = {"q": config.heads, "k": config.kv_heads}
        for (layer, projection), a in adapter.a.items():
            b = adapter.b[layer, projection].detach().numpy()
            if config.rows_permuted and projection in heads:
                b = b[permutation(heads[projection], config.head_size)]
            name = f"blk.{layer}.{GGUF_NAMES[projection]}.weight"
            writer.add_tensor(name + LORA_A, a.detach().numpy())
            writer.add_tensor(name + LORA_B, np.ascontiguousarray(b))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def read_gguf(path: Path, config: DecoderConfig) -> LoraAdapter:
    """The reverse of ``write_gguf``, to be trained on. Raises ModelBroken."""
    file = GGUFFile(path)
    heads = {"q": config.heads, "k": config.kv_heads}
    adapter = LoraAdapter(rank=0, alpha=alpha_of(file))
    factors = {name: (a, b) for name, a, b in factors_in(file)}
    for layer in range(config.layers):
        for projection in (part for parts in PRODUCTS.values() for part in parts):
            a, b = factors[f"blk.{layer}.{GGUF_NAMES[projection]}.weight"]
            if config.rows_permuted and projection in heads:
                b = b[np.argsort(permutation(heads[projection], config.head_size))]
            adapter.rank = a.shape[0]
            adapter.a[layer, projection] = torch.from_numpy(a).requires_grad_()
            adapter.b[layer, projection] = torch.from_numpy(np.ascontiguousarray(b)).requires_grad_()
    return adapter


def save_weights(adapter: LoraAdapter, path: Path) -> None:
    """The trained tensors as they are, for the next stage. Raises OSError."""
    tensors = {
        f"{layer}.{projection}.{side}": values[layer, projection].detach().contiguous()
        for side, values in (("a", adapter.a), ("b", adapter.b))
        for layer, projection in values
    }
    with put_in_place(path, alone=True) as aside:
        _save(tensors, aside, {"rank": str(adapter.rank), "alpha": str(adapter.alpha)})


def load_weights(path: Path) -> LoraAdapter:
    """The reverse of ``save_weights``."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        metadata = file.metadata()
        adapter = LoraAdapter(rank=int(metadata["rank"]), alpha=float(metadata["alpha"]))
        # Numeric order of layers: the parameters keep the order in which training made them.
        for name in sorted(file.keys(), key=lambda name: int(name.split(".")[0])):
            layer, projection, side = name.split(".")
            values: dict[tuple[int, str], torch.Tensor] = adapter.a if side == "a" else adapter.b
            values[int(layer), projection] = file.get_tensor(name)
    return adapter


def _save(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Raises OSError, also where safetensors has an error of its own for a full disk."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error
