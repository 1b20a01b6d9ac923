"""The one decoding thread: questions waiting their turn, answers, swaps and background tasks in between."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from configs.sections.engine import EngineSettings
from engine.answers import Finished, Waiting
from engine.background import BackgroundTasks, Steps
from engine.busy import BusyFlag
from engine.decoding import Decoding
from engine.errors import EngineBusy, EngineError, EngineStopping, told
from engine.futures import refused
from engine.jobs import Job, place_for
from engine.loaded import Loaded, load
from engine.logs import note
from engine.served import AdapterSet, ServedSnapshot, exchanged
from engine.slots import Slot
from engine.swaps import Swap, Swaps

T = TypeVar("T")
log = logging.getLogger("enlace.engine")


class Scheduler:
    """Decodes in a thread of its own. ``clock`` counts seconds; every public method may be called by any thread."""

    def __init__(self, loaded: Loaded, settings: EngineSettings, busy: BusyFlag, clock: Callable[[], float]) -> None:
        self._decoding = Decoding(loaded, settings, clock)
        self._settings = settings
        self._busy = busy
        self._clock = clock
        self._queue: collections.deque[Job] = collections.deque()
        self._background = BackgroundTasks(settings.background_tasks)
        # For reading questions: as many threads as there may be questions, so that none waits for slow work of others.
        self.readers = ThreadPoolExecutor(settings.queue_length + settings.slots, thread_name_prefix="reading")
        self._changed = threading.Condition()
        self.swaps = Swaps(self._wake)
        self._leases: collections.Counter[AdapterSet] = collections.Counter()
        self._lately: collections.deque[AdapterSet] = collections.deque(maxlen=settings.adapter_sets)
        self._ending = self._dropping = False
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    @property
    def loaded(self) -> Loaded:
        """What is being served now."""
        return self._decoding.loaded

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots, to be looked at only."""
        return self._decoding.slots

    @property
    def working(self) -> int:
        """How many answers are being read for or written."""
        return self._decoding.working

    @property
    def waiting(self) -> int:
        """How many questions wait for a slot."""
        return len(self._queue)

    @property
    def prefix_bytes(self) -> int:
        """What the beginnings of conversations outside the slots take."""
        return self._decoding.prefix_bytes

    @property
    def last_rate(self) -> float:
        """Tokens per second of the last answer."""
        return self._decoding.last_rate

    def submit(self, job: Job) -> None:
        """Have ``job`` answered; returns when its text has been read into tokens.

        Raises PromptTooLong, TemplateBroken, EngineBusy and EngineStopping.
        """
        if not self.gives_way(job):
            job.read(lambda: self.loaded)
        with self._changed:
            if self._ending:
                raise EngineStopping
            if not (self.gives_way(job) or place_for(job, self._in_hand(), self._settings)):
                raise EngineBusy(waiting=len(self._queue))
            job.arrived = self._clock()
            self._queue.append(job)
            self._changed.notify()

    def gives_way(self, job: Job) -> bool:
        """Whether ``job`` is cancelled, as a patient one is as soon as somebody asks who is not."""
        with self._changed:
            job.cancelled |= job.patient and any(not other.patient for other in self._in_hand())
            return job.cancelled

    def cancel(self, job: Job) -> None:
        """Stop working on ``job``; its slot is free within a step."""
        job.cancelled = True
        self._wake()

    def swap(self, served: ServedSnapshot) -> Future[None]:
        """Answer later questions with another snapshot; the answers in flight are written by the one they began with.

        The future ends when it is served, or with the error that kept the old one in place. A snapshot of another
        model waits for the answers in flight, and the questions that come meanwhile wait for it.
        """
        with self._changed:
            if self._ending:
                return refused(EngineStopping())
            done = self.swaps.add(served)
            self._changed.notify()
        return done

    def lease(self, served: ServedSnapshot) -> Future[None]:
        """Have the adapters of ``served``, of the model that is served now, at hand for jobs that name it.

        The future ends when they are, or with what is wrong with them; where another model came in first, with
        AdapterMismatch. They stay until ``release``, which is due whatever the future said, and a while after it for
        whoever asks with them again.
        """
        with self._changed:
            self._leases[served.adapters] += 1
            if self._ending:
                return refused(EngineStopping())
            done = self.swaps.add(served, for_all=False)
            self._changed.notify()
        return done

    def release(self, served: ServedSnapshot) -> None:
        """One who leased these adapters does not need them any more."""
        with self._changed:
            self._leases[served.adapters] -= 1
            self._leases += collections.Counter()
            if served.adapters in self._lately:
                self._lately.remove(served.adapters)
            self._lately.append(served.adapters)

    def run_in_background(self, steps: Steps[T]) -> Future[T]:
        """Have the generator ``steps(loaded)`` run in the decoding thread, a step between two of the answers'.

        The future ends with what it returns or raises. Each step ought to be no longer than the reading of a chunk.
        """
        with self._changed:
            if self._ending:
                return refused(EngineStopping())
            done = self._background.add(steps)
            self._changed.notify()
        return done

    def drop_cache(self) -> None:
        """Forget, before the next step, all that no answer in flight needs."""
        self._dropping = True
        self._wake()

    def end(self) -> None:
        """End the thread: answers in flight end in EngineStopping. Returns when it has ended."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _in_hand(self) -> set[Job]:
        """What waits or is answered; one that is just being taken on is in the queue and in its slot."""
        return {job for job in (*self._queue, *self._decoding.jobs()) if not job.cancelled}

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (
                    self._ending or self._dropping or self._queue or self._background or self.working or self.swaps.due
                ):
                    self._busy.clear()
                    self._changed.wait()
                if self._ending:
                    break
            self._busy.set()
            try:
                self._step()
            except Exception as error:
                failure = told(error)
                note(log, "step_failed", logging.WARNING, error=failure)
                self._decoding.fail_all(failure)
        self._end_all(EngineStopping())

    def _step(self) -> None:
        if self._dropping:
            self._dropping = False
            self._decoding.drop_cache()
        self._decoding.drop_cancelled()
        self._drop_cancelled()
        self._swap_if_due()
        self._admit()
        self._tell_places()
        self._decoding.step()
        self._background.step(self.loaded, begin=not self._exchanging)

    def _drop_cancelled(self) -> None:
        with self._changed:
            dropped = [job for job in self._queue if job.cancelled]
            for job in dropped:
                self._queue.remove(job)
        for job in dropped:
            job.emit(Finished("cancelled", self._decoding.usage(job)))

    def _swap_if_due(self) -> None:
        while (swap := self.swaps.next()) is not None:
            if not swap.for_all and self._is_other(swap.served):
                self.swaps.refuse(swap, exchanged(swap.served))
            elif self._is_other(swap.served):
                if self.working or self._background.begun:
                    return
                self.swaps.carry_out(swap, self._exchange, self._clock)
            elif swap.prepared is None:
                self.swaps.prepare(swap, self.loaded)
                return
            elif not swap.prepared.done():
                return
            else:
                self.swaps.carry_out(swap, self._adopt, self._clock)

    def _exchange(self, swap: Swap) -> None:
        self._decoding.exchange(load(swap.served, self._settings, self._busy.set))

    def _adopt(self, swap: Swap) -> None:
        if swap.prepared is not None:
            swap.prepared.result()
        if swap.for_all:
            self._decoding.adopt(swap.served)
        # A background task may be computing with adapters in a cache of its own.
        if not self._background.begun:
            with self._changed:
                in_use = {*self._leases, *self._lately}
            self._decoding.forget_adapters(in_use)

    def _admit(self) -> None:
        """Give waiting questions free slots; none while another model is about to come in."""
        while self._queue and not self._exchanging:
            job = self._fairest()
            if job.cancelled:  # It came since those were dropped, perhaps unread.
                return
            try:
                if job.model != self.loaded.served.model:
                    # It waited while another model came in, to which these tokens mean something else.
                    job.read(lambda: self.loaded)
                if not self._decoding.begin(job):
                    return
            except Exception as error:
                # It is in no slot yet, so nobody else would tell whoever waits for it.
                job.emit(told(error))
            with self._changed:
                self._queue.remove(job)

    def _tell_places(self) -> None:
        """Tell everybody who waits where in the queue they are, when that has changed."""
        with self._changed:
            moved = [(place, job) for place, job in enumerate(self._queue, 1) if job.place != place]
        for place, job in moved:
            job.place = place
            job.emit(Waiting(place))

    @property
    def _exchanging(self) -> bool:
        swap = self.swaps.next()
        return swap is not None and self._is_other(swap.served)

    def _is_other(self, served: ServedSnapshot) -> bool:
        """Whether it takes another model, or the same one computed in another way."""
        now = self.loaded.served
        return (served.model, served.form) != (now.model, now.form)

    def _fairest(self) -> Job:
        """The oldest question of whoever has the fewest answers in hand."""
        in_hand = collections.Counter(job.owner for job in self._decoding.jobs())
        with self._changed:
            return min(self._queue, key=lambda job: in_hand[job.owner])

    def _end_all(self, error: EngineError) -> None:
        with self._changed:
            waiting, self._queue = self._queue, collections.deque()
        self.swaps.refuse_all(error)
        self._background.refuse_all(error)
        self._decoding.fail_all(error)
        for job in waiting:
            job.emit(error)
        self.loaded.close()
        self._busy.close()
