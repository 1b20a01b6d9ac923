"""A served GGUF as the decoder's weights, in the order that half-rotation RoPE wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from configs.sections.training import FrozenSettings
from engine.fit import available_memory
from trainer.errors import NotMergeable
from trainer.model.changes import Change, read_changes
from trainer.model.config import DecoderConfig
from trainer.model.frozen import Bench, Blocks, Changed, Dense, Part
from trainer.model.gguf_file import GGUFFile
from trainer.model.shapes import EMBEDDING, FINAL_NORM, HEAD, ROPE_FACTORS, trainable_config
from trainer.model.weight import Weight

DENSE = FrozenSettings(keep="dense", dense_share=1.0)


# Calls a function with what is given, while the matrices that it belongs to are at hand.
With = Callable[..., Any]


def always(function: Callable[..., Any], *given: Any) -> Any:
    """Of matrices that are at hand anyway."""
    return function(*given)


@dataclass(frozen=True)
class LayerWeights:
    """One layer. Matrices are [out, in], and used by what is called through ``at_hand``; norms, biases are float32."""

    qkv: Weight
    output: Weight
    gate_up: Weight
    down: Weight
    attention_norm: torch.Tensor
    feed_forward_norm: torch.Tensor
    qkv_bias: torch.Tensor | None
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    post_attention_norm: torch.Tensor | None
    post_feed_forward_norm: torch.Tensor | None
    at_hand: With = always


@dataclass(frozen=True)
class BaseWeights:
    """A whole base model, computed in ``dtype``. ``embedding`` and ``head``, [vocabulary, width], are one where tied.

    ``in_blocks``: the matrices of its layers are as in the file, and dequantised as they are used; embedding and head
    always are.

    ``rope_factors`` [head_size / 2] divide the frequencies, where the file has them.
    """

    config: DecoderConfig
    dtype: torch.dtype
    in_blocks: bool
    embedding: Weight
    head: Weight
    final_norm: torch.Tensor
    rope_factors: NDArray[np.float32] | None
    layers: tuple[LayerWeights, ...]


def permutation(heads: int, head_size: int) -> NDArray[np.int64]:
    """``gguf_rows = rows[permutation]``: half-split row order to llama.cpp's interleaved one (convert_hf_to_gguf)."""
    index = np.arange(heads * head_size).reshape(heads, 2, head_size // 2)
    return index.swapaxes(1, 2).reshape(-1)


def dense_bytes(file: GGUFFile, dtype: torch.dtype) -> int:
    """What the matrices of the layers in ``file`` take as numbers."""
    return sum(int(np.prod(file.shape(name))) * dtype.itemsize for name in file.names if name not in (EMBEDDING, HEAD))


def becomes_dense(file: GGUFFile, dtype: torch.dtype, settings: FrozenSettings) -> bool:
    """Whether the matrices become numbers at once: as the settings say, or where that takes little of the memory."""
    if settings.keep != "auto":
        return settings.keep != "blocks"
    available = available_memory()
    return available is None or dense_bytes(file, dtype) <= settings.dense_share * available


def read_base(
    path: Path,
    dtype: torch.dtype = torch.float32,
    settings: FrozenSettings = DENSE,
    adapters: Sequence[tuple[Path, float]] = (),
    *,
    shared_out: bool = False,
) -> BaseWeights:
    """The weights in ``path``, multiplied in ``dtype``; as numbers, or kept in the file's own blocks.

    ``adapters`` (file, scale): what lies over them and is frozen too. ``shared_out``: each of the processes that train
    together keeps a share of the numbers, and all of a layer only while it is computed. Raises NotTrainable and
    ShapeNotTrainable for what the decoder lacks, ModelBroken, and NotMergeable for an adapter that changes anything
    else than the layers.
    """
    file = GGUFFile(path)
    changes = read_changes(adapters, file)
    for name in changes:
        if not name.startswith("blk."):
            raise NotMergeable(path=str(path), tensor=name)
    return _Reading(file, dtype, becomes_dense(file, dtype, settings), changes, shared_out).base()


class _Reading:
    def __init__(
        self,
        file: GGUFFile,
        dtype: torch.dtype,
        dense: bool,
        changes: Mapping[str, Sequence[Change]],
        shared_out: bool,
    ) -> None:
        self._file = file
        self._changes = changes
        self._dtype = dtype
        self._dense = dense
        self._shared_out = shared_out
        self._config = config = trainable_config(file)
        self._bench = Bench()
        self._order = {
            part: np.argsort(permutation(heads, config.head_size))
            for part, heads in (("attn_q", config.heads), ("attn_k", config.kv_heads))
            if config.rows_permuted
        }

    def base(self) -> BaseWeights:
        file = self._file
        embedding = self._blocks((EMBEDDING,))
        base = BaseWeights(
            config=self._config,
            dtype=self._dtype,
            in_blocks=not self._dense,
            embedding=embedding,
            head=self._blocks((HEAD,)) if HEAD in file else embedding,
            final_norm=torch.from_numpy(file.array(FINAL_NORM)),
            rope_factors=file.array(ROPE_FACTORS) if ROPE_FACTORS in file else None,
            layers=tuple(self._layer(f"blk.{index}.") for index in range(self._config.layers)),
        )
        file.let_go()
        return base

    def _layer(self, block: str) -> LayerWeights:
        at_hand, (qkv, output, gate_up, down) = self._held(
            self._product(block, "attn_q", "attn_k", "attn_v"),
            self._product(block, "attn_output"),
            self._product(block, "ffn_gate", "ffn_up"),
            self._product(block, "ffn_down"),
        )
        return LayerWeights(
            qkv=qkv,
            output=output,
            gate_up=gate_up,
            down=down,
            attention_norm=torch.from_numpy(self._file.array(f"{block}attn_norm.weight")),
            feed_forward_norm=torch.from_numpy(self._file.array(f"{block}ffn_norm.weight")),
            qkv_bias=self._bias(block),
            query_norm=self._vector(f"{block}attn_q_norm.weight"),
            key_norm=self._vector(f"{block}attn_k_norm.weight"),
            post_attention_norm=self._vector(f"{block}post_attention_norm.weight"),
            post_feed_forward_norm=self._vector(f"{block}post_ffw_norm.weight"),
            at_hand=at_hand,
        )

    def _held(self, *matrices: Weight) -> tuple[With, tuple[Weight, ...]]:
        """These as they are to be held, and through what they are used together."""
        plain = [matrix.weight if isinstance(matrix, Changed) else matrix for matrix in matrices]
        numbers = [matrix for matrix in plain if isinstance(matrix, Dense)]
        if not (self._shared_out and numbers):
            return always, matrices
        # Seconds to import, and of no use to a training in one process.
        from trainer.model.sharded import share_out

        held, shared = share_out([matrix.weight for matrix in numbers])
        together = zip(matrices, shared, strict=True)
        return held, tuple(replace(m, weight=share) if isinstance(m, Changed) else share for m, share in together)

    def _product(self, block: str, *parts: str) -> Weight:
        names = tuple(f"{block}{part}.weight" for part in parts)
        blocks, changes = self._blocks(names), [self._change(name) for name in names]
        weight = blocks.dense(self._dtype) if self._dense else blocks
        if not any(a.shape[0] for a, _ in changes):
            return weight
        a, b = torch.cat([a for a, _ in changes]), torch.block_diag(*(b for _, b in changes))
        return Changed(weight, a.to(self._dtype), b.to(self._dtype))

    def _change(self, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """What all adapters together do to a matrix: a [rank, in] and b [out, rank] in the decoder's order of rows."""
        rows, columns = self._file.shape(name)
        changes, order = self._changes.get(name, ()), self._rows_in_order(name)
        a = np.concatenate([np.empty((0, columns), np.float32), *(change.a for change in changes)])
        b = np.concatenate(
            [np.empty((rows, 0), np.float32), *(np.float32(change.strength) * change.b for change in changes)], axis=1
        )
        return torch.from_numpy(a), torch.from_numpy(b if order is None else b[order])

    def _blocks(self, names: tuple[str, ...]) -> Blocks:
        parts = [Part(self._file.rows(name), int(self._file.kind(name)), self._rows_in_order(name)) for name in names]
        return Blocks(parts, self._bench)

    def _bias(self, block: str) -> torch.Tensor | None:
        names = [f"{block}attn_{part}.bias" for part in "qkv"]
        if names[0] not in self._file:
            return None
        values = [self._file.array(name) for name in names]
        orders = [self._rows_in_order(name) for name in names]
        ordered = [v if order is None else v[order] for v, order in zip(values, orders, strict=True)]
        return torch.from_numpy(np.concatenate(ordered))

    def _vector(self, name: str) -> torch.Tensor | None:
        return torch.from_numpy(self._file.array(name)) if name in self._file else None

    def _rows_in_order(self, name: str) -> NDArray[np.int64] | None:
        """Which of a tensor's rows each of the decoder's is; None where they are the same."""
        return self._order.get(name.split(".")[-2])
