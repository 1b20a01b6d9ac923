"""Adapters that change something without having been trained."""

from __future__ import annotations

import torch

from trainer.model.lora import LoraAdapter


def disturbed(adapter: LoraAdapter, size: float) -> LoraAdapter:
    """The adapter with a B that is not zero any more."""
    generator = torch.Generator().manual_seed(3)
    for key, b in adapter.b.items():
        adapter.b[key] = torch.randn(b.shape, generator=generator) * size
    return adapter
