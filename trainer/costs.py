"""What the stages of a run take: time in which they work, time in which they are held, and energy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from trainer.energy.energy import Energy


class Drawing(Protocol):
    """What ``trainer.energy.meter.Meter`` does."""

    def drawn(self) -> Energy:
        """What was drawn since the last call."""


@dataclass(frozen=True)
class Cost:
    """Of stages or of a whole run. ``seconds``: without those in which it was paused."""

    seconds: float
    paused: float
    energy: Energy

    def as_json(self) -> dict[str, Any]:
        """For reports, events and manifests."""
        return {"seconds": self.seconds, "paused": self.paused, "energy": self.energy.as_json()}


class Costs:
    """Of the stages of one run, which may be several at once: each is then given the same part of what is drawn.

    What is drawn while they are held is nobody's. May be used from several threads.
    """

    def __init__(self, meter: Drawing, every_s: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._meter = meter
        self._every_s = every_s
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._began = self._looked = monotonic()
        self._running: dict[str, Energy] = {}
        self._spent = Energy()
        # How many stages are held right now, since when, and from when to when they were before.
        self._held = 0
        self._held_since = 0.0
        self._holds: list[tuple[float, float]] = []

    def clock(self) -> float:
        """Seconds, by a clock that stands still while the stages are held."""
        with self._lock:
            now = self._held_since if self._held else self._monotonic()
            return now - self._held_before

    def begin(self, stage: str) -> None:
        """A stage starts now."""
        with self._lock:
            self._look()
            self._running[stage] = Energy()

    def look(self) -> Energy:
        """Read the counters where it is time to; what all stages have drawn so far."""
        with self._lock:
            if self._monotonic() - self._looked >= self._every_s and not self._held:
                self._look()
            return self._spent

    def end(self, stage: str) -> Energy:
        """A stage has ended; what it has drawn."""
        with self._lock:
            self._look()
            return self._running.pop(stage)

    def hold(self) -> bool:
        """One more stage is held from now on; whether it is the first of them."""
        with self._lock:
            if not self._held:
                self._look()
                self._held_since = self._monotonic()
            self._held += 1
            return self._held == 1

    def go_on(self) -> bool:
        """One of those that are held goes on; whether it was the last."""
        with self._lock:
            self._held -= 1
            if not self._held:
                self._holds.append((self._held_since, self._monotonic()))
                # What was drawn meanwhile was drawn by others.
                self._meter.drawn()
                self._looked = self._monotonic()
            return not self._held

    def worked(self, began: float, seconds: float) -> tuple[float, float]:
        """Of so many seconds since ``began``, by the system's monotonic clock, those worked and those held."""
        with self._lock:
            ends = began + seconds
            held = sum(max(0.0, min(to, ends) - max(since, began)) for since, to in self._holds)
            return seconds - held, held

    def total(self) -> Cost:
        """Of the whole run until now."""
        seconds = self.clock() - self._began
        with self._lock:
            return Cost(seconds, self._monotonic() - self._began - seconds, self._spent)

    @property
    def _held_before(self) -> float:
        return sum(to - since for since, to in self._holds)

    def _look(self) -> None:
        found = self._meter.drawn()
        self._looked = self._monotonic()
        if self._held or not self._running:
            # Between two stages nothing of the run works but its supervisor.
            return
        self._spent += found
        part = found.share(len(self._running))
        for stage in self._running:
            self._running[stage] += part
