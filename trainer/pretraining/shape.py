"""The shape of a run's model as the decoder knows it."""

from __future__ import annotations

import math

from configs.pretraining.shape import Shape
from trainer.model.config import DecoderConfig
from trainer.model.rope import Rope

ARCHITECTURE = "qwen3"


def decoder_config(shape: Shape) -> DecoderConfig:
    """Architecture ``qwen3``."""
    rope = Rope(shape.rope_base)
    return DecoderConfig(
        architecture=ARCHITECTURE,
        layers=shape.layers,
        width=shape.width,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        head_size=shape.head_size,
        feed_forward=shape.feed_forward,
        vocabulary=shape.vocabulary,
        context_length=shape.context,
        norm_epsilon=shape.norm_epsilon,
        rope=rope,
        sliding_rope=rope,
        attention_scale=1.0 / math.sqrt(shape.head_size),
    )
