"""How many operations a step of LoRA training needs, whatever it is computed by: multiplications and additions."""

from __future__ import annotations

from trainer.model.config import DecoderConfig
from trainer.model.lora import PRODUCTS, projection_shape
from trainer.packing import Pack

FORWARD = 2  # operations a weight and token: one multiplication, one addition
# A frozen matrix is multiplied forward and for the gradient of what went in; of the adapter's also its own is taken.
FROZEN, TRAINED = 2 * FORWARD, 3 * FORWARD
# Queries with keys and weights with values, forward; for the gradient both factors of each.
ATTENTION = 2 * TRAINED


def needed(config: DecoderConfig, rank: int, pack: Pack) -> float:
    """Forward and backward of ``pack``: each of its tokens once, logits where they are asked for, nothing twice.

    Norms, activations and the optimiser are left out, and that nothing flows back below the first layer.
    """
    shapes = [projection_shape(config, projection) for parts in PRODUCTS.values() for projection in parts]
    frozen = sum(rows * columns for rows, columns in shapes)
    trained = sum(rank * (rows + columns) for rows, columns in shapes)
    tokens = len(pack.tokens) * config.layers * (FROZEN * frozen + TRAINED * trained)
    seen = pack.positions + 1
    near = seen.clamp_max(config.sliding_window) if config.sliding_layers else seen
    sliding = len(config.sliding_layers)
    looks = int(seen.sum()) * (config.layers - sliding) + int(near.sum()) * sliding
    attention = ATTENTION * config.heads * config.head_size * looks
    return float(tokens + attention + FROZEN * len(pack.rows) * config.vocabulary * config.width)
