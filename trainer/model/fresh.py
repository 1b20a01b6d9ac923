"""A decoder's weights before they have learned anything, and each of them by its name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from trainer.model.config import DecoderConfig
from trainer.model.lora import PRODUCTS, projection_shape
from trainer.model.reading import BaseWeights, LayerWeights, With, always
from trainer.model.trained import Trained
from trainer.model.weight import Weight

GAINS = ("attention_norm", "feed_forward_norm", "query_norm", "key_norm")
Kind = Literal["matrix", "embedding", "gain"]


@dataclass(frozen=True)
class Parameter:
    """``tensor``: what is trained, float32. ``parts``: the rows of each of the matrices that stand in it.

    ``kind``: an embedding is the head as well; a gain is a vector. ``shared``: only this process's rows are here.
    """

    name: str
    tensor: torch.Tensor
    kind: Kind
    parts: tuple[int, ...] = ()
    shared: bool = False


def fresh_weights(
    config: DecoderConfig,
    dtype: torch.dtype,
    std: float,
    generator: torch.Generator,
    device: torch.device,
    *,
    shared_out: bool = False,
) -> BaseWeights:
    """Normal numbers of this ``std``, drawn in a fixed order on the processor, so that a seed gives them on any device.

    What is added to the stream is smaller, the more layers add to it (GPT-2, Radford et al. 2019, 2.3). Gains are 1.
    ``shared_out``: each of the processes that train together keeps a share of the layers' matrices.
    """

    def drawn(rows: int, columns: int, spread: float) -> Trained:
        numbers = torch.randn(rows, columns, generator=generator).mul_(spread)
        return Trained(numbers.to(device).requires_grad_())

    def gain(size: int) -> torch.Tensor:
        return torch.ones(size, device=device, requires_grad=True)

    def product(name: str) -> Trained:
        shapes = [projection_shape(config, part) for part in PRODUCTS[name]]
        adds = name in ("output", "down")
        spread = std / math.sqrt(2 * config.layers) if adds else std
        return drawn(sum(rows for rows, _ in shapes), shapes[0][1], spread)

    def layer() -> LayerWeights:
        at_hand, (qkv, output, gate_up, down) = _held([product(name) for name in PRODUCTS], shared_out)
        return LayerWeights(
            qkv=qkv,
            output=output,
            gate_up=gate_up,
            down=down,
            attention_norm=gain(config.width),
            feed_forward_norm=gain(config.width),
            qkv_bias=None,
            query_norm=gain(config.head_size),
            key_norm=gain(config.head_size),
            post_attention_norm=None,
            post_feed_forward_norm=None,
            at_hand=at_hand,
        )

    embedding = drawn(config.vocabulary, config.width, std)
    return BaseWeights(
        config=config,
        dtype=dtype,
        in_blocks=False,
        embedding=embedding,
        head=embedding,
        final_norm=gain(config.width),
        rope_factors=None,
        layers=tuple(layer() for _ in range(config.layers)),
    )


def _held(matrices: Sequence[Trained], shared_out: bool) -> tuple[With, Sequence[Weight]]:
    """These as they are to be held, and through what they are used together."""
    if not shared_out:
        return always, matrices
    # Seconds to import, and of no use to a training in one process.
    from trainer.model.sharded import share_out

    parameters = [each.parameter.detach() for each in matrices]
    return share_out(parameters, trained=True, device=parameters[0].device.type)


def parameters_of(weights: BaseWeights) -> Iterator[Parameter]:
    """All that is trained, in a fixed order, of ``weights`` that ``fresh_weights`` made."""
    config = weights.config
    embedding: Any = weights.embedding
    yield Parameter("embedding", embedding.parameter, "embedding")
    for number, layer in enumerate(weights.layers):
        for name, parts in PRODUCTS.items():
            rows = tuple(projection_shape(config, part)[0] for part in parts)
            shared = layer.at_hand is not always
            yield Parameter(f"{number}.{name}", getattr(layer, name).parameter, "matrix", rows, shared)
        for name in GAINS:
            yield Parameter(f"{number}.{name}", getattr(layer, name), "gain")
    yield Parameter("final_norm", weights.final_norm, "gain")
