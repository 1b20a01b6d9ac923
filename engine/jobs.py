"""One answer to be written: what is asked of the decoding thread and what it reports back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.answers import Finished, Sampling
from engine.errors import EngineError


@dataclass(frozen=True)
class Written:
    """More text of the answer; ``snapshot`` is what wrote it."""

    text: str
    snapshot: str


JobEvent = Written | Finished | EngineError


@dataclass(eq=False)
class Job:
    """``emit`` is called by the decoding thread, ends with exactly one Finished or EngineError, and must not block.

    ``seed`` starts this answer's randomness. ``cache_key`` names the conversation, so that it gets back the slot
    that still holds its beginning. ``cancelled`` may be set by any thread at any time.
    """

    prompt: list[int]
    sampling: Sampling
    seed: int
    emit: Callable[[JobEvent], None]
    cache_key: str | None = None
    cancelled: bool = False
    arrived: float = field(default=0.0)
