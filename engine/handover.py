"""The way of an answer from the decoding thread to the event loop that streams it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.jobs import JobEvent, Written


class Handover:
    """Passes on what is reported of one answer, text at most every ``interval_s`` seconds by ``clock``.

    What the event loop does for a piece of text takes a core from the decoding threads, all of which then wait for the
    one that lost it; so the tokens of a quick answer go two or three at a time. The first is passed on at once, and
    the end takes along what is held. For one thread to call; ``take`` is called in ``loop``.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        take: Callable[[JobEvent], None],
        interval_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._loop = loop
        self._take = take
        self._interval_s = interval_s
        self._clock = clock
        self._held: Written | None = None
        self._passed_at = float("-inf")

    def __call__(self, event: JobEvent) -> None:
        """Pass ``event`` on, or hold it until the next one."""
        held, self._held = self._held, None
        if not isinstance(event, Written):
            if held is not None:
                self._loop.call_soon_threadsafe(self._take, held)
            self._loop.call_soon_threadsafe(self._take, event)
            return
        if held is not None:
            event = Written(held.text + event.text, event.snapshot, held.logprobs + event.logprobs)
        now = self._clock()
        if now - self._passed_at < self._interval_s:
            self._held = event
            return
        self._passed_at = now
        self._loop.call_soon_threadsafe(self._take, event)
