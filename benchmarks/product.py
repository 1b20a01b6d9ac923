"""What a plain product of square matrices does in this process: the most that anything made of products can do."""

from __future__ import annotations

import time

import torch

from benchmarks.flops import FORWARD

SIZES = (512, 1024, 2048)  # of which the fastest is the peak
REPEATED = 5


class Product:
    """In ``dtype``, by as many threads as torch has now."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._pairs = {size: torch.randn(2, size, size).to(dtype) for size in SIZES}
        rates = {size: self._rate(size) for size in SIZES}
        self._fastest = max(rates, key=lambda size: rates[size])

    def rate(self) -> float:
        """Operations a second, now."""
        return self._rate(self._fastest)

    def _rate(self, size: int) -> float:
        one, other = self._pairs[size]
        took = []
        for _ in range(REPEATED):
            began = time.perf_counter()
            one @ other
            took.append(time.perf_counter() - began)
        return FORWARD * size**3 / min(took)
