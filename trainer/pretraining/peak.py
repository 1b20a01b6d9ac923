"""The most that a run's process has taken so far of the memory that its profile speaks of."""

from __future__ import annotations

from configs.pretraining.hardware import Hardware
from trainer.resident import peak_resident_bytes


def peak_bytes(hardware: Hardware) -> int:
    """What it reserved of its card, or had of the machine's memory."""
    if hardware.device == "cuda":
        import torch

        return int(torch.cuda.max_memory_reserved())
    return peak_resident_bytes()
