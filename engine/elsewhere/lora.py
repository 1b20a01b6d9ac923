"""LoRA adapters of GGUF files as numbers: read, added up into one, and laid out as PEFT's folders are.

PEFT: https://huggingface.co/docs/peft (``adapter_config.json`` and ``adapter_model.safetensors``). Names and row order
in GGUF are those of llama.cpp's ``convert_lora_to_gguf.py``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray

from configs.disk import put_in_place, sync
from engine.elsewhere.model_facts import read_facts
from engine.errors import AdapterMismatch
from engine.gguf import check_adapter
from engine.served import AdapterFile

Matrix = NDArray[np.float32]
MODULES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
# Architectures that a folder of PEFT's is known to fit; of these, llama.cpp reorders the rows of q and k in one.
PERMUTED = {"llama": True, "qwen2": False, "qwen3": False, "gemma3": False}
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


@dataclass(frozen=True)
class Lora:
    """``pairs``: for each weight ``blk.0.attn_q.weight``, A [rank, in] and B [out, rank] in the order of GGUF's rows.

    The weight becomes W + alpha / rank · B A, with the rank of its own pair.
    """

    architecture: str
    alpha: float
    pairs: Mapping[str, tuple[Matrix, Matrix]]


@dataclass(frozen=True)
class Heads:
    """How many heads the queries and the keys of a model have."""

    queries: int
    keys: int


def read_lora(path: Path, model: Path) -> Lora:
    """The adapter ``path``, made for ``model``. Raises AdapterMismatch."""
    summary = check_adapter(path, model)
    halves: dict[str, dict[str, Matrix]] = {}
    for tensor in GGUFReader(path).tensors:
        weight, dot, side = tensor.name.rpartition(".lora_")
        if not dot or side not in ("a", "b"):
            raise AdapterMismatch(path=str(path), reason=f"{tensor.name} is no part of a LoRA adapter")
        halves.setdefault(weight, {})[side] = np.asarray(tensor.data, np.float32)
    lone = [weight for weight, pair in halves.items() if len(pair) != 2]
    if lone:
        raise AdapterMismatch(path=str(path), reason=f"{lone[0]} has one half only")
    pairs = {weight: (pair["a"], pair["b"]) for weight, pair in halves.items()}
    return Lora(summary.architecture, float(summary.adapter_alpha or 0), pairs)


def read_heads(model: Path) -> Heads:
    """The heads of a model's file. Raises ModelBroken, AdapterMismatch where the layers have unlike numbers of them."""
    heads = read_facts(model).heads
    if heads is None:
        raise AdapterMismatch(path=str(model), reason="its layers have unlike numbers of heads")
    return Heads(*heads)


def added_up(loras: Sequence[tuple[Lora, float]]) -> Lora:
    """One adapter that does what these do together, each with its scale.

    One alone keeps its numbers, and its alpha takes the scale. Several become one of all their ranks: A's are put
    below, B's beside each other, B's times scale · alpha / rank, so that alpha is the rank of each pair (W + B A).
    """
    if len(loras) == 1:
        lora, scale = loras[0]
        return Lora(lora.architecture, lora.alpha * scale, lora.pairs)
    weights = sorted({weight for lora, _ in loras for weight in lora.pairs})
    stacked = {weight: _stacked(weight, loras) for weight in weights}
    rank = max(a.shape[0] for a, _ in stacked.values())
    return Lora(
        loras[0][0].architecture, float(rank), {weight: _padded(*pair, rank) for weight, pair in stacked.items()}
    )


def _stacked(weight: str, loras: Sequence[tuple[Lora, float]]) -> tuple[Matrix, Matrix]:
    parts = [(*lora.pairs[weight], lora.alpha * scale) for lora, scale in loras if weight in lora.pairs]
    a = np.concatenate([a for a, _, _ in parts])
    b = np.concatenate([b * np.float32(strength / b.shape[1]) for _, b, strength in parts], axis=1)
    return a, b


def _padded(a: Matrix, b: Matrix, rank: int) -> tuple[Matrix, Matrix]:
    """With rows and columns of zeros up to ``rank``: alpha is divided by it in every pair alike."""
    more = rank - a.shape[0]
    return np.pad(a, ((0, more), (0, 0))), np.pad(b, ((0, 0), (0, more)))


def peft_tensors(lora: Lora, heads: Heads) -> dict[str, Matrix]:
    """The tensors of PEFT's file by name. Raises ValueError for a weight or an architecture that is not known there."""
    if lora.architecture not in PERMUTED:
        raise ValueError(f"no layout is known for {lora.architecture}")
    tensors = {}
    for weight, (a, b) in lora.pairs.items():
        block, _, place = weight.partition(".")
        layer, _, last = place.partition(".")
        name = last.removesuffix(".weight")
        if block != "blk" or name not in MODULES:
            raise ValueError(f"no place is known for {weight}")
        if PERMUTED[lora.architecture] and name in ("attn_q", "attn_k"):
            b = _half_split(b, heads.queries if name == "attn_q" else heads.keys)
        module = f"base_model.model.model.layers.{layer}.{MODULES[name]}"
        tensors[f"{module}.lora_A.weight"] = np.ascontiguousarray(a)
        tensors[f"{module}.lora_B.weight"] = np.ascontiguousarray(b)
    return tensors


def _half_split(rows: Matrix, heads: int) -> Matrix:
    """Rows in llama.cpp's order (the two halves of a head interleaved) in the order of the published weights."""
    count, width = rows.shape
    return rows.reshape(heads, count // heads // 2, 2, width).swapaxes(1, 2).reshape(count, width)


def peft_config(lora: Lora, base: str | None) -> dict[str, Any]:
    """PEFT's description, over the model that whoever loads it calls ``base``. Raises ValueError for unlike ranks."""
    ranks = {a.shape[0] for a, _ in lora.pairs.values()}
    if len(ranks) != 1:
        raise ValueError(f"an adapter of the ranks {sorted(ranks)}")
    modules = sorted({MODULES[weight.split(".")[2]].rpartition(".")[2] for weight in lora.pairs})
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": ranks.pop(),
        "lora_alpha": int(lora.alpha) if lora.alpha.is_integer() else lora.alpha,
        "lora_dropout": 0.0,
        "target_modules": modules,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
    }


def write_peft(folder: Path, adapters: Sequence[AdapterFile], model: Path, base: str | None) -> None:
    """Write the adapters over ``model`` as one folder of PEFT's, whole or not at all; one that is there stays.

    ``base``: what the model is called there; None where nobody knows. Raises AdapterMismatch, OSError.
    """
    if folder.is_dir():
        return
    from safetensors.numpy import save_file

    lora = added_up([(read_lora(file.path, model), file.scale) for file in adapters])
    try:
        tensors, config = peft_tensors(lora, read_heads(model)), peft_config(lora, base)
    except ValueError as error:
        raise AdapterMismatch(path=str(adapters[0].path), reason=str(error)) from error
    aside = folder.with_name(f"{folder.name}.{os.urandom(4).hex()}.part")
    aside.mkdir(parents=True)
    try:
        save_file(tensors, aside / WEIGHTS, metadata={"format": "pt"})
        (aside / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        _keep(aside)
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        # Another process wrote the same.
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_gguf(path: Path, adapters: Sequence[AdapterFile], model: Path) -> None:
    """Write the adapters over ``model`` as one GGUF file, whole or not at all. Raises AdapterMismatch, OSError."""
    lora = added_up([(read_lora(file.path, model), file.scale) for file in adapters])
    path.parent.mkdir(parents=True, exist_ok=True)
    with put_in_place(path) as aside:
        writer = GGUFWriter(str(aside), lora.architecture)
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", lora.alpha)
        for weight, (a, b) in lora.pairs.items():
            writer.add_tensor(f"{weight}.lora_a", np.ascontiguousarray(a))
            writer.add_tensor(f"{weight}.lora_b", np.ascontiguousarray(b))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def _keep(folder: Path) -> None:
    """Have everything in ``folder`` on the disk before its name is."""
    for path in (*folder.iterdir(), folder):
        sync(path)
