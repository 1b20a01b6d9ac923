"""How far a share that was measured on few answers can be from what many would show."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any


@dataclass(frozen=True)
class Interval:
    """Between ``low`` and ``high`` lies the value with the confidence that was asked for; ``samples`` were measured."""

    low: float
    high: float
    samples: int

    def as_json(self) -> dict[str, Any]:
        """For the run's files; ``Interval(**value)`` reads it back."""
        return asdict(self)


def wilson(hits: int, samples: int, confidence: float) -> Interval:
    """Of the share ``hits / samples`` (Wilson, Probable Inference, JASA 22, 1927); of none, anything from 0 to 1.

    Unlike the normal interval it is none of no width where all or none hit. ``confidence``: 0.9 for 90 %.
    """
    if not samples:
        return Interval(0.0, 1.0, 0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = hits / samples
    middle = (share + z * z / (2 * samples)) / (1 + z * z / samples)
    half = z / (1 + z * z / samples) * math.sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
    return Interval(max(0.0, middle - half), min(1.0, middle + half), samples)


def newcombe(after: int, before: int, samples: int, confidence: float) -> Interval:
    """Of the rise ``(after - before) / samples`` of a share among as many answers each.

    Newcombe's method 10 (Interval estimation for the difference between independent proportions, Statistics in
    Medicine 17, 1998), which for answers to the same prompts is rather too wide than too narrow.
    """
    if not samples:
        return Interval(-1.0, 1.0, 0)
    new, old = after / samples, before / samples
    n, o = wilson(after, samples, confidence), wilson(before, samples, confidence)
    return Interval(
        new - old - math.hypot(new - n.low, o.high - old), new - old + math.hypot(n.high - new, old - o.low), samples
    )
