"""A slot: one sequence of the KV cache, what it holds and the answer that it is working on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.jobs import Job
from engine.lookup import Lookup
from engine.sampler import Sampler
from engine.served import AdapterSet, ServedSnapshot
from engine.text import TextStream


@dataclass
class Work:
    """A job in a slot: what is still to be read of its prompt, then what has been written.

    ``served`` answers it to the end, also when another snapshot has been promoted meanwhile.
    """

    job: Job
    served: ServedSnapshot
    sampler: Sampler
    text: TextStream
    cached: int
    first_token_at: float | None = None
    written: int = 0
    next_token: int | None = None
    lookup: Lookup | None = None


@dataclass
class Slot:
    """``tokens`` are in the cache, computed with ``adapters``; both of them together name what is there."""

    number: int
    tokens: list[int] = field(default_factory=list)
    adapters: AdapterSet = ()
    cache_key: str | None = None
    used_at: float = 0.0
    work: Work | None = None

    def common(self, prompt: Sequence[int], adapters: AdapterSet) -> int:
        """How many tokens of ``prompt`` are here already; none where other adapters computed them."""
        return common_prefix(self.tokens, prompt) if self.adapters == adapters else 0

    def rows(self, tokens: Sequence[int], first: int) -> list[tuple[int, int, int, bool]]:
        """A batch that goes on with ``tokens``; logits are wanted from the one at place ``first`` on."""
        begun = len(self.tokens)
        return [(token, begun + place, self.number, place >= first) for place, token in enumerate(tokens)]

    def empty(self) -> None:
        """Hold nothing; whatever the cache has there is overwritten."""
        self.tokens, self.adapters, self.cache_key = [], (), None


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of what two sequences of tokens begin with alike."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def choose_slot(slots: Sequence[Slot], job: Job, adapters: AdapterSet) -> Slot | None:
    """The free slot to answer ``job`` in: its own conversation's, else one that loses nothing, else the oldest.

    That another slot holds more of the prompt is no reason to take it: what is common can be copied.
    """
    free = [slot for slot in slots if slot.work is None]
    if not free:
        return None

    def worth(slot: Slot) -> tuple[bool, bool, int, float]:
        common = slot.common(job.prompt, adapters)
        own = job.cache_key is not None and slot.cache_key == job.cache_key and common > 0
        loses_nothing = common == len(slot.tokens)
        return own, loses_nothing, common if own or loses_nothing else 0, -slot.used_at

    return max(free, key=worth)
