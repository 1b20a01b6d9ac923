"""What the decoding thread has done since the engine started, in numbers."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Tokens of prompts ``read`` and ``reused`` from the cache, tokens ``written``, and how things ended."""

    read: int = 0
    reused: int = 0
    written: int = 0
    finished: collections.Counter[str] = field(default_factory=collections.Counter)
    failed: int = 0
    refused: int = 0
    steps: int = 0
    swaps: int = 0
    swaps_refused: int = 0
