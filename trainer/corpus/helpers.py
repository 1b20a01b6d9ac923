"""Several processes that judge documents; what they give comes in the order of what they were given."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Final, Literal

from configs.pretraining.corpus import Corpus
from trainer.corpus.errors import HelperLost
from trainer.corpus.judging import Judge, Judged
from trainer.corpus.readers.document import Read
from trainer.courtesy import die_with

Step = Literal["clean", "judge"]
# Batches that wait for each process, so that none is idle and few are in memory.
_AHEAD: Final = 3
_judge: Judge | None = None


class Helpers:
    """``pool``: the others, None where this process does all by itself with ``judge``."""

    def __init__(self, judge: Judge, pool: ProcessPoolExecutor | None, processes: int) -> None:
        self._judge, self._pool, self._ahead = judge, pool, _AHEAD * processes

    def each(self, step: Step, batches: Iterable[Sequence[Read]]) -> Iterator[list[Judged | Read]]:
        """What ``step`` makes of each batch, in their order. Raises HelperLost."""
        if self._pool is None:
            yield from (_done(self._judge, step, batch) for batch in batches)
            return
        waiting: deque[Future[list[Judged | Read]]] = deque()
        for batch in batches:
            waiting.append(self._pool.submit(_there, step, batch))
            if len(waiting) >= self._ahead:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


@contextmanager
def helpers(plan: Corpus, evaluations: Sequence[str], processes: int) -> Iterator[Helpers]:
    """``processes`` of them; with 1, no other process is started."""
    if processes == 1:
        yield Helpers(Judge(plan, evaluations), None, 1)
        return
    # Fresh ones: what this process has open is not theirs.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin, initargs=(plan, evaluations, os.getpid())
    )
    try:
        yield Helpers(Judge(plan, evaluations), pool, processes)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _result(done: Future[list[Judged | Read]]) -> list[Judged | Read]:
    try:
        return done.result()
    except BrokenProcessPool as error:
        raise HelperLost from error


def _begin(plan: Corpus, evaluations: Sequence[str], parent: int) -> None:
    """What each of the others does first. It ends with its parent; Ctrl-C is for that one, which ends in order."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    global _judge
    _judge = Judge(plan, evaluations)


def _there(step: Step, batch: Sequence[Read]) -> list[Judged | Read]:
    assert _judge is not None  # noqa: S101 - the pool begins each process with `_begin`
    return _done(_judge, step, batch)


def _done(judge: Judge, step: Step, batch: Sequence[Read]) -> list[Judged | Read]:
    return list(judge.clean(batch)) if step == "clean" else judge.judge(batch)
