"""The one decoding thread: several answers written side by side, questions waiting their turn, swaps in between."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from configs.sections.engine import EngineSettings
from engine.answers import Finished, Reason, Usage
from engine.busy import BusyFlag
from engine.errors import EngineBusy, EngineError, EngineStopping, told
from engine.jobs import Job, Written
from engine.loaded import Loaded
from engine.logs import note
from engine.sampler import Sampler
from engine.served import ServedSnapshot
from engine.slots import Slot, Work, choose_slot
from engine.swaps import Swaps
from engine.text import TextStream

# Rounding differs between a token computed alone and tokens computed together, so a prompt never ends in a
# chunk of one: its answer would depend on what the cache happened to hold.
CHUNK_LEAST = 2

log = logging.getLogger("enlace.engine")


class Scheduler:
    """Decodes in a thread of its own. ``clock`` counts seconds; every public method may be called by any thread.

    Each step computes one token for every answer being written, and one chunk of one prompt being read, the
    readers taking turns; so no long question holds up another answer for longer than a chunk.
    """

    def __init__(self, loaded: Loaded, settings: EngineSettings, busy: BusyFlag, clock: Callable[[], float]) -> None:
        self._loaded = loaded
        self._settings = settings
        self._busy = busy
        self._clock = clock
        self._slots = [Slot(number) for number in range(settings.slots)]
        self._queue: collections.deque[Job] = collections.deque()
        self.swaps = Swaps()
        self._changed = threading.Condition()
        self._ending = False
        self._last_reader = -1
        self.last_rate = 0.0
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    @property
    def loaded(self) -> Loaded:
        """What is being served now."""
        return self._loaded

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots, to be looked at only."""
        return self._slots

    @property
    def working(self) -> int:
        """How many answers are being read for or written."""
        return sum(slot.work is not None for slot in self._slots)

    @property
    def waiting(self) -> int:
        """How many questions wait for a slot."""
        return len(self._queue)

    def submit(self, job: Job) -> None:
        """Have ``job`` answered; returns when its text has been read into tokens.

        Raises PromptTooLong, TemplateBroken, EngineBusy and EngineStopping.
        """
        job.read(lambda: self._loaded)
        with self._changed:
            if self._ending:
                raise EngineStopping
            if len(self._queue) >= self._settings.queue_length + self._settings.slots:
                raise EngineBusy(waiting=len(self._queue))
            job.arrived = self._clock()
            self._queue.append(job)
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """Stop working on ``job``; its slot is free within a step."""
        with self._changed:
            job.cancelled = True
            self._changed.notify()

    def swap(self, served: ServedSnapshot) -> Future[None]:
        """Serve another snapshot once the answers in flight are written; later questions wait for it.

        The future ends when it is served, or with the error that kept the old one in place.
        """
        with self._changed:
            done = self.swaps.add(served)
            if self._ending:
                self.swaps.refuse_all(EngineStopping())
            self._changed.notify()
        return done

    def end(self) -> None:
        """End the thread: answers in flight end in EngineStopping. Returns when it has ended."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._ending or self._queue or self.swaps or self.working):
                    self._busy.clear()
                    self._changed.wait()
                if self._ending:
                    break
            self._busy.set()
            try:
                self._drop_cancelled()
                self._swap_if_due()
                self._admit()
                self._write()
                self._read()
            except Exception as error:
                failure = told(error)
                note(log, "step_failed", logging.WARNING, error=failure)
                self._fail_all(failure)
        self._fail_all(EngineStopping())
        self._loaded.close()
        self._busy.close()

    def _drop_cancelled(self) -> None:
        for slot in self._slots:
            if slot.work and slot.work.job.cancelled:
                self._finish(slot, slot.work, "cancelled")
        with self._changed:
            dropped = [job for job in self._queue if job.cancelled]
            for job in dropped:
                self._queue.remove(job)
        for job in dropped:
            job.emit(Finished("cancelled", self._usage(job)))

    def _swap_if_due(self) -> None:
        while self.swaps and not self.working:
            with self._changed:
                taken = self.swaps.take()
            if taken is None:
                return
            self.swaps.carry_out(*taken, self._exchange, self._clock)

    def _exchange(self, served: ServedSnapshot) -> None:
        try:
            if served.model == self._loaded.served.model:
                self._loaded.exchange_adapters(served)
            else:
                old, self._loaded = self._loaded, Loaded(served, self._settings)
                old.close()
        finally:
            for slot in self._slots:
                slot.tokens, slot.read, slot.cache_key = [], 0, None
            self._loaded.context.clear()

    def _admit(self) -> None:
        """Give waiting questions free slots, first come first served; none while a swap is due."""
        while self._queue and not self.swaps:
            job = self._queue[0]
            slot = choose_slot(self._slots, job, CHUNK_LEAST)
            if slot is None:
                return
            with self._changed:
                self._queue.popleft()
            try:
                if job.model != self._loaded.served.model:
                    # It waited while another model came in, to which these tokens mean something else.
                    job.read(lambda: self._loaded)
                self._begin(slot, job)
            except Exception as error:
                # It is in no slot yet, so nobody else would tell whoever waits for it.
                job.emit(told(error))

    def _begin(self, slot: Slot, job: Job) -> None:
        self._make_room(len(job.prompt) + 1)
        keep = slot.reusable(job, CHUNK_LEAST)
        if not self._loaded.context.keep(slot.number, keep):
            self._loaded.context.keep(slot.number, 0)
            keep = 0
        slot.tokens, slot.read, slot.cache_key = slot.tokens[:keep], min(slot.read, keep), job.cache_key
        sampler = Sampler(self._loaded.model, job.sampling, job.seed)
        slot.work = Work(job, sampler, TextStream(job.sampling.stop), cached=keep)

    def _write(self) -> None:
        """One token for every answer being written."""
        writers = [(slot, slot.work) for slot in self._slots if slot.work and slot.work.next_token is not None]
        if not writers:
            return
        self._make_room(max(len(slot.tokens) for slot, _ in writers) + 1)
        self._loaded.context.decode(
            [(work.next_token or 0, len(slot.tokens), slot.number, True) for slot, work in writers]
        )
        for row, (slot, work) in enumerate(writers):
            slot.tokens.append(work.next_token or 0)
            self._advance(slot, work, row)

    def _make_room(self, tokens: int) -> None:
        self._loaded.make_room(tokens, [slot.number for slot in self._slots if slot.tokens])

    def _read(self) -> None:
        """One chunk of one prompt; the readers take turns."""
        readers = [slot for slot in self._slots if slot.work and slot.work.next_token is None]
        if not readers:
            return
        slot = next((slot for slot in readers if slot.number > self._last_reader), readers[0])
        self._last_reader = slot.number
        work = slot.work
        if work is None:
            return
        prompt, begun = work.job.prompt, len(slot.tokens)
        left = len(prompt) - begun
        take = left if left <= self._settings.prompt_chunk else min(self._settings.prompt_chunk, left - CHUNK_LEAST)
        chunk, last = prompt[begun : begun + take], take == left
        rows = [(token, begun + place, slot.number, last and place == take - 1) for place, token in enumerate(chunk)]
        self._loaded.context.decode(rows)
        slot.tokens += chunk
        slot.read = len(slot.tokens) if slot.read == begun else slot.read
        if last:
            self._advance(slot, work, take - 1)

    def _advance(self, slot: Slot, work: Work, row: int) -> None:
        """Choose the token after the batch's row ``row`` and pass its text on."""
        token = work.sampler.sample(self._loaded.context, row)
        if work.first_token_at is None:
            work.first_token_at = self._clock()
        if self._loaded.vocabulary.is_end(token):
            self._finish(slot, work, "stop")
            return
        work.written += 1
        self._emit(work, work.text.feed(self._loaded.vocabulary.token_bytes(token)))
        if work.text.stopped:
            self._finish(slot, work, "stop")
        elif work.written >= work.job.sampling.max_tokens or len(slot.tokens) >= self._loaded.context_size:
            self._finish(slot, work, "length")
        else:
            work.next_token = token

    def _finish(self, slot: Slot, work: Work, reason: Reason) -> None:
        slot.work, slot.used_at = None, self._clock()
        work.sampler.close()
        self._emit(work, work.text.finish())
        usage = self._usage(work.job, work)
        self.last_rate = usage.tokens_per_second
        work.job.emit(Finished(reason, usage))

    def _emit(self, work: Work, text: str) -> None:
        if text:
            work.job.emit(Written(text, self._loaded.served.name))

    def _usage(self, job: Job, work: Work | None = None) -> Usage:
        """What an answer took up to now; the rate counts the tokens after the first."""
        now = self._clock()
        first = work.first_token_at if work and work.first_token_at is not None else now
        written = work.written if work else 0
        rate = (written - 1) / (now - first) if written > 1 and now > first else 0.0
        return Usage(
            prompt_tokens=len(job.prompt),
            cached_tokens=work.cached if work else 0,
            answer_tokens=written,
            ttft_ms=(first - job.arrived) * 1000,
            tokens_per_second=rate,
            snapshot=self._loaded.served.name,
            context_size=self._loaded.context_size,
        )

    def _fail_all(self, error: EngineError) -> None:
        """End every job with ``error`` and start from an empty cache."""
        for slot in self._slots:
            work, slot.work = slot.work, None
            slot.tokens, slot.read, slot.cache_key = [], 0, None
            if work:
                work.sampler.close()
                work.job.emit(error)
        with self._changed:
            waiting = [*self._queue] if self._ending else []
            if self._ending:
                self._queue.clear()
                self.swaps.refuse_all(error)
        for job in waiting:
            job.emit(error)
        self._loaded.context.clear()
