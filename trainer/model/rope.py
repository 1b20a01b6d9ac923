"""Rotary position embedding (arXiv 2104.09864): how fast each pair of a head's numbers turns with the position."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# YaRN's bounds as llama.cpp has them: turns over the original context above which a pair is left alone, and below
# which it is stretched in full (arXiv 2309.00071, 3.2).
FAST_TURNS, SLOW_TURNS = 32.0, 1.0
YARN_MAGNITUDE = 0.1  # times ln(stretch), by which YaRN makes queries and keys longer (arXiv 2309.00071, 3.4)


@dataclass(frozen=True)
class Rope:
    """``stretch``: how often longer the context was made. ``yarn_context``: the tokens before that; 0: not by YaRN."""

    base: float
    stretch: float = 1.0
    magnitude: float = 1.0
    yarn_context: int = 0

    @property
    def length(self) -> float:
        """What a turned query or key is multiplied by."""
        return self.magnitude * (1.0 + YARN_MAGNITUDE * math.log(self.stretch) if self.yarn_context else 1.0)

    def frequencies(self, head_size: int, factors: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """Radians a token of each pair: [head_size / 2]. ``factors``, as many, divide them (as Llama 3.1's do)."""
        half = head_size // 2
        pairs = np.arange(half)
        turns = self.base ** (-pairs / half)
        if factors is not None:
            turns = turns / factors
        stretched = turns / self.stretch
        if self.yarn_context:
            kept = 1.0 - self._ramp(pairs, head_size)
            stretched = stretched * (1.0 - kept) + turns * kept
        return stretched.astype(np.float32)

    def _ramp(self, pairs: NDArray[np.int64], head_size: int) -> NDArray[np.float64]:
        """How far each pair is stretched, from 0 to 1."""

        def pair_of(turns: float) -> float:
            return head_size * math.log(self.yarn_context / (turns * 2 * math.pi)) / (2 * math.log(self.base))

        low = max(0.0, math.floor(pair_of(FAST_TURNS)))
        high = min(head_size - 1.0, math.ceil(pair_of(SLOW_TURNS)))
        return np.clip((pairs - low) / max(0.001, high - low), 0.0, 1.0)
