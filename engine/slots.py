"""A slot: one sequence of the KV cache, what it holds and the answer that it is working on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.jobs import Job
from engine.sampler import Sampler
from engine.text import TextStream


@dataclass
class Work:
    """A job in a slot: what is still to be read of its prompt, then what has been written."""

    job: Job
    sampler: Sampler
    text: TextStream
    cached: int
    first_token_at: float | None = None
    written: int = 0
    next_token: int | None = None


@dataclass
class Slot:
    """``tokens`` are in the cache; the first ``read`` of them were computed as a prompt, the rest one by one."""

    number: int
    tokens: list[int] = field(default_factory=list)
    read: int = 0
    cache_key: str | None = None
    used_at: float = 0.0
    work: Work | None = None

    def reusable(self, job: Job, chunk_least: int) -> int:
        """How many tokens of ``job``'s prompt need not be read again.

        At least ``chunk_least`` are always read, because the answer starts from their logits. A token read in a
        chunk and one written alone differ in rounding, so the likeliest-token answer, which must be the same every
        time, is only built on tokens that were read.
        """
        limit = min(len(job.prompt) - chunk_least, self.read if job.sampling.temperature == 0 else len(self.tokens))
        return max(0, min(common_prefix(self.tokens, job.prompt), limit))


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of what two sequences of tokens begin with alike."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def choose_slot(slots: Sequence[Slot], job: Job, chunk_least: int) -> Slot | None:
    """The free slot that holds most of the job's prompt, its own conversation's before others, else the oldest."""
    free = [slot for slot in slots if slot.work is None]
    if not free:
        return None

    def worth(slot: Slot) -> tuple[bool, int, float]:
        same = job.cache_key is not None and slot.cache_key == job.cache_key
        return same, slot.reusable(job, chunk_least), -slot.used_at

    return max(free, key=worth)
