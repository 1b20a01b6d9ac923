"""What is in the cache already is not read again: in the same slot, in another one, or in what was kept of one."""

from __future__ import annotations

from collections.abc import Sequence

from configs.sections.engine import EngineSettings
from engine.chunks import SMALLEST_CHUNK
from engine.jobs import Job
from engine.native import Context
from engine.prefixes import Prefix, PrefixStore
from engine.served import AdapterSet
from engine.slots import Slot


class Reuse:
    """Fills a slot with as much of a prompt as there is anywhere. For the decoding thread."""

    def __init__(self, slots: Sequence[Slot], settings: EngineSettings) -> None:
        self._slots = slots
        self._settings = settings
        self._prefixes = PrefixStore(settings.prefix_cache_mb << 20)

    @property
    def bytes(self) -> int:
        """What is kept outside the slots."""
        return self._prefixes.bytes

    def fill(self, context: Context, slot: Slot, job: Job, adapters: AdapterSet) -> int:
        """Have in ``slot`` as much of the job's prompt as there is anywhere; how many tokens. Raises EngineFailed.

        What another conversation had there is kept, as long as there is memory for it.
        """
        prompt, here = job.prompt, slot.common(job.prompt, adapters)
        donor = max(
            (other for other in self._slots if other is not slot),
            key=lambda other: other.common(prompt, adapters),
            default=slot,
        )
        there = donor.common(prompt, adapters)
        kept, prefix = self._prefixes.best(prompt, adapters)
        state = None
        if prefix and kept >= there and self._is_worth(kept - here, len(prefix.tokens)):
            self._prefixes.touch(prefix)
            state, tokens, common = prefix.state, prefix.tokens, kept
        elif self._is_worth(there - here, len(donor.tokens)):
            state, tokens, common = context.state(donor.number), donor.tokens, there
        another = job.cache_key is None or slot.cache_key != job.cache_key
        if another and len(slot.tokens) - here >= self._settings.prefix_least_tokens:
            self._keep(context, slot)
        if state is not None:
            # Where it cannot be put back, nobody knows what is there.
            slot.empty()
            context.restore(slot.number, state)
            slot.tokens, here = tokens[:], common
        keep = max(0, min(here, len(prompt) - SMALLEST_CHUNK))
        if not context.keep(slot.number, keep):
            context.keep(slot.number, 0)
            keep = 0
        slot.tokens, slot.adapters, slot.cache_key = slot.tokens[:keep], adapters, job.cache_key
        return keep

    def drop(self, context: Context) -> None:
        """Forget all that no answer in flight needs."""
        self._prefixes.clear()
        for slot in self._slots:
            if slot.work is None:
                context.keep(slot.number, 0)
                slot.empty()

    def forget(self) -> None:
        """Another model's cache is meaningless: nothing of it is left."""
        self._prefixes.clear()
        for slot in self._slots:
            slot.empty()

    def _is_worth(self, gained: int, copied: int) -> bool:
        """Whether to copy the cache of so many tokens to be spared the reading of ``gained`` ones."""
        settings = self._settings
        return gained >= settings.prefix_least_tokens and gained * settings.prefix_copy_worth >= copied

    def _keep(self, context: Context, slot: Slot) -> None:
        """Keep what a slot holds before it is overwritten."""
        if self._prefixes.fits(context.state_size(slot.number)):
            self._prefixes.add(Prefix(slot.tokens, slot.adapters, context.state(slot.number)))
