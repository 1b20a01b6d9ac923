"""Whether what is served is the trained function: torch's and llama.cpp's logits side by side (contract 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from engine.scoring import LocalModel, kl
from trainer.model.decoder import Decoder
from trainer.packing import Item, build_pack


def parity(decoder: Decoder, served: LocalModel, items: Sequence[Item]) -> float:
    """Mean KL(torch || llama.cpp) in nats a token over the answers of ``items``."""
    total = 0.0
    for item in items:
        with torch.no_grad():
            trained = torch.log_softmax(decoder.logits(build_pack([item])), dim=-1).numpy()
        total += kl(trained.astype(np.float32), served.log_probs(item.prompt, item.answer))
    return total / sum(len(item.answer) for item in items)
