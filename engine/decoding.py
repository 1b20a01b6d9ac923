"""The steps of the decoding thread: answers written side by side, prompts read in between, caches reused."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from configs.sections.engine import EngineSettings
from engine.answers import Finished, Reason, TokenLogprob, Usage
from engine.chunks import chunk_length
from engine.computing import next_tokens
from engine.errors import EngineError, EngineFailed
from engine.jobs import Job, Written
from engine.loaded import Loaded
from engine.logprobs import token_logprob
from engine.lookup import Lookup
from engine.reuse import Reuse
from engine.routes import routed
from engine.sampler import Sampler
from engine.served import AdapterSet, ServedSnapshot
from engine.slots import Slot, Work, choose_slot
from engine.text import TextStream


class Decoding:
    """Everything that touches the model while it answers; for one thread. ``clock`` counts seconds.

    Each step computes one token for every answer being written, or several that could be guessed, and one chunk of one
    prompt being read, so that no long question holds up another answer for longer than a chunk. Every answer keeps the
    adapters that it began with: a step goes through the sets one after the other.
    """

    def __init__(self, loaded: Loaded, settings: EngineSettings, clock: Callable[[], float]) -> None:
        self.loaded = loaded
        self._settings = settings
        self._clock = clock
        self.slots = [Slot(number) for number in range(settings.slots)]
        self._reuse = Reuse(self.slots, settings)
        self._turns = 0
        self.last_rate = 0.0

    @property
    def working(self) -> int:
        """How many answers are being read for or written."""
        return sum(slot.work is not None for slot in self.slots)

    @property
    def prefix_bytes(self) -> int:
        """What the beginnings that left their slots take."""
        return self._reuse.bytes

    def jobs(self) -> list[Job]:
        """The jobs that are being worked on; any thread may ask."""
        return [work.job for slot in self.slots if (work := slot.work)]

    def begin(self, job: Job) -> bool:
        """Take ``job`` on in a free slot; False where there is none. Raises AdapterMismatch and what Sampler does."""
        served = job.answered_by(self.loaded)
        adapters = routed(served.adapters, job.messages)
        slot = choose_slot(self.slots, job, adapters)
        if slot is None:
            return False
        self._make_room(len(job.prompt) + 1)
        opened, limits = job.form.opened, self._settings.grammar
        sampler = Sampler(self.loaded.vocabulary, job.sampling, job.seed, limits, opened.closing if opened else "")
        try:
            keep = self._reuse.fill(self.loaded.context, slot, job, adapters)
        except BaseException:
            sampler.close()
            raise
        slot.work = Work(job, served, sampler, TextStream(job.sampling.stop), cached=keep, lookup=self._lookup(job))
        return True

    def drop_cancelled(self) -> None:
        """End the answers that nobody waits for any more."""
        for slot in self.slots:
            if slot.work and slot.work.job.cancelled:
                self._finish(slot, slot.work, "cancelled")

    def step(self) -> None:
        """A token or a guess for every writer and a chunk for one reader. Raises EngineFailed."""
        self._write()
        self._read()

    def exchange(self, loaded: Loaded) -> None:
        """Answer with another model from now on; nobody may be working."""
        old, self.loaded = self.loaded, loaded
        old.close()
        self._reuse.forget()

    def adopt(self, served: ServedSnapshot) -> None:
        """Answer new questions with another, prepared, snapshot of this model; those begun keep theirs.

        What the one before left in the cache stays for a rollback.
        """
        self.loaded.served = served

    def forget_adapters(self, in_use: Iterable[AdapterSet]) -> None:
        """Free the adapters that are in none of these sets and that no answer is written with."""
        self.loaded.forget_adapters([*in_use, *(slot.work.served.adapters for slot in self.slots if slot.work)])

    def drop_cache(self) -> None:
        """Forget all that no answer in flight needs."""
        self._reuse.drop(self.loaded.context)

    def fail_all(self, error: EngineError) -> None:
        """End every answer with ``error`` and start from an empty cache."""
        for slot in self.slots:
            work, slot.work = slot.work, None
            slot.empty()
            if work:
                work.sampler.close()
                work.job.emit(error)
        self.loaded.context.clear()

    def usage(self, job: Job, work: Work | None = None) -> Usage:
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
            snapshot=(work.served if work else self.loaded.served).name,
            context_size=self.loaded.context_size,
        )

    def _lookup(self, job: Job) -> Lookup | None:
        guesses = self._settings.lookup_tokens and self.loaded.model.forgets_parts
        return Lookup.of(job.prompt, self._settings) if guesses else None

    def _write(self) -> None:
        """One token for every answer being written, or as many as could be guessed."""
        writers = self._with_room(
            [(slot, slot.work) for slot in self.slots if slot.work and slot.work.next_token is not None]
        )
        for adapters in dict.fromkeys(slot.adapters for slot, _ in writers):
            together = []
            for slot, work in writers:
                if slot.adapters == adapters and not self._write_guessed(slot, work):
                    together.append((slot, work))
            if not together:
                continue
            self.loaded.apply(adapters)
            batch = [(work.next_token or 0, len(slot.tokens), slot.number) for slot, work in together]
            for (slot, work), row in zip(together, next_tokens(self.loaded.context, batch), strict=True):
                if isinstance(row, EngineFailed):
                    self._give_up(slot, work, row)
                    continue
                slot.tokens.append(work.next_token or 0)
                self._advance(slot, work, row)

    def _write_guessed(self, slot: Slot, work: Work) -> bool:
        """Several tokens of one answer, where what follows can be guessed; False where it cannot.

        In a batch of its own: rows beside it would change neither the guess nor its rounding.
        """
        if work.lookup is None or work.next_token is None:
            return False
        room = min(self.loaded.context_size - len(slot.tokens), work.job.sampling.max_tokens - work.written) - 1
        latest = [*slot.tokens[len(slot.tokens) + 1 - work.lookup.match :], work.next_token]
        guess = work.lookup.guess(latest, room)
        if not guess:
            return False
        try:
            self._make_room(len(slot.tokens) + 1 + len(guess))
        except EngineFailed:
            return False
        # Not before there is room: a cache that has grown has no adapters applied.
        self.loaded.apply(slot.adapters)
        tokens = [work.next_token, *guess]
        try:
            self.loaded.context.decode(slot.rows(tokens, 0))
        except EngineFailed:
            # Alone it may go on all the same.
            self.loaded.context.keep(slot.number, len(slot.tokens))
            return False
        right = 0
        for row, token in enumerate(tokens):
            slot.tokens.append(token)
            self._advance(slot, work, row)
            if slot.work is None or row == len(guess) or work.next_token != guess[row]:
                break
            right += 1
        self.loaded.context.keep(slot.number, len(slot.tokens))
        work.lookup.judge(len(guess), right)
        return True

    def _read(self) -> None:
        """One chunk of a prompt: in turns of the one that is nearest to its first word and of the oldest."""
        readers = [(slot, slot.work) for slot in self.slots if slot.work and slot.work.next_token is None]
        if not readers:
            return
        self._turns += 1
        shortest = self._turns % 2
        slot, work = min(
            readers,
            key=lambda each: len(each[1].job.prompt) - len(each[0].tokens) if shortest else each[1].job.arrived,
        )
        begun = len(slot.tokens)
        chunk = self._chunk(begun, len(work.job.prompt) - begun)
        tokens = work.job.prompt[begun : begun + chunk]
        last = begun + chunk == len(work.job.prompt)
        self.loaded.apply(slot.adapters)
        try:
            self.loaded.context.decode(slot.rows(tokens, chunk - 1 if last else chunk))
        except EngineFailed as error:
            self._give_up(slot, work, error)
            return
        slot.tokens += tokens
        if last:
            self._advance(slot, work, chunk - 1)

    def _chunk(self, begun: int, left: int) -> int:
        """How many tokens of a prompt to read now: few where somebody else waits for a word, many of a long one."""
        settings = self.loaded.settings
        if self.working > 1:
            longest = min(settings.prompt_chunk, settings.shared_prompt_chunk)
        else:
            # Not at the beginning, which other conversations share: what they build on is computed in one way only.
            long = min(begun, left) >= settings.long_prompt_tokens
            longest = settings.long_prompt_chunk if long else settings.prompt_chunk
        return chunk_length(left, longest)

    def _with_room(self, writers: list[tuple[Slot, Work]]) -> list[tuple[Slot, Work]]:
        """Those whose next token there is room for; where there is no memory for more, the others' answers end."""
        try:
            self._make_room(max((len(slot.tokens) for slot, _ in writers), default=0) + 1)
        except EngineFailed as error:
            for slot, work in writers:
                if len(slot.tokens) >= self.loaded.context.size:
                    self._fail(slot, work, error)
        return [(slot, work) for slot, work in writers if slot.work]

    def _make_room(self, tokens: int) -> None:
        self.loaded.make_room(tokens, [slot.number for slot in self.slots if slot.tokens])

    def _advance(self, slot: Slot, work: Work, row: int) -> None:
        """Choose the token after the batch's row ``row`` and pass its text on."""
        try:
            token = work.sampler.sample(self.loaded.context, row)
        except EngineError as error:
            # The other answers have nothing to do with it.
            self._fail(slot, work, error)
            return
        if work.first_token_at is None:
            work.first_token_at = self._clock()
        if self.loaded.vocabulary.is_end(token):
            self._finish(slot, work, "stop")
            return
        work.written += 1
        spelled = work.job.form.spelled.get(token)
        text = work.text.feed(spelled or self.loaded.vocabulary.token_bytes(token))
        self._emit(work, text, self._logprobs(work, row, token))
        if work.text.stopped:
            self._finish(slot, work, "stop")
        elif work.written >= work.job.sampling.max_tokens or len(slot.tokens) >= self.loaded.context_size:
            self._finish(slot, work, "length")
        else:
            work.next_token = token

    def _finish(self, slot: Slot, work: Work, reason: Reason) -> None:
        self._leave(slot, work)
        usage = self.usage(work.job, work)
        self.last_rate = usage.tokens_per_second
        work.job.emit(Finished(reason, usage))

    def _fail(self, slot: Slot, work: Work, error: EngineError) -> None:
        """End one answer with ``error``."""
        self._leave(slot, work)
        work.job.emit(error)

    def _give_up(self, slot: Slot, work: Work, error: EngineFailed) -> None:
        """End one answer whose tokens cannot be computed, with all that the cache has of it."""
        self.loaded.context.keep(slot.number, 0)
        slot.empty()
        self._fail(slot, work, error)

    def _leave(self, slot: Slot, work: Work) -> None:
        """Free a slot of its answer, and give out what was still held of the text."""
        slot.work, slot.used_at = None, self._clock()
        work.sampler.close()
        self._emit(work, work.text.finish())

    def _logprobs(self, work: Work, row: int, token: int) -> tuple[TokenLogprob, ...]:
        """What ``token`` was worth after the batch's row ``row``, if that was asked for."""
        sampling = work.job.sampling
        if not sampling.logprobs:
            return ()
        logits = self.loaded.context.logits(row)
        return (token_logprob(self.loaded.vocabulary, logits, token, sampling.top_logprobs),)

    def _emit(self, work: Work, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> None:
        if text or logprobs:
            work.job.emit(Written(text, work.served.name, logprobs))
