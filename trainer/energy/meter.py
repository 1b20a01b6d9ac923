"""What the machine has drawn since it was looked at last, by the best that it has to tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from configs.sections.energy import EnergySettings
from trainer.energy.counters import Battery, Counter, Rapl
from trainer.energy.energy import Energy, reckoned
from trainer.energy.graphics import graphics


class Meter:
    """``machine``: what counts the machine itself, the best first; ``beside``: what counts what those do not.

    ``watts``: what is drawn where none of ``machine`` tells. ``most_watts``: more than this is a counter that was set
    back. A battery gives what everything takes, the cards too.
    """

    def __init__(
        self,
        machine: Sequence[Counter],
        beside: Sequence[Counter],
        watts: float,
        most_watts: float,
        clock: Callable[[], float],
    ) -> None:
        self._machine = machine
        self._beside = beside
        self._watts = watts
        self._most_watts = most_watts
        self._clock = clock
        self._last = clock()
        self.drawn()

    def drawn(self) -> Energy:
        """Since the last call."""
        now = self._clock()
        seconds, self._last = now - self._last, now
        # Each is asked, so that it can tell the next time.
        told = {each.name: self._believed(each.joules(), seconds) for each in (*self._machine, *self._beside)}
        counted = [(each.name, told[each.name]) for each in self._machine]
        name, joules = next((pair for pair in counted if pair[1] is not None), ("", None))
        found = reckoned(seconds, self._watts) if joules is None else Energy(joules, 0.0, (name,))
        for each in self._beside:
            more = told[each.name]
            if more is not None and name != Battery.name:
                found += Energy(more, 0.0, (each.name,))
        return found

    def _believed(self, joules: float | None, seconds: float) -> float | None:
        return joules if joules is not None and joules <= self._most_watts * seconds else None


def meter_of(settings: EnergySettings, watts: float, clock: Callable[[], float] = time.monotonic) -> Meter:
    """This machine's."""
    cards = graphics(clock)
    machine: list[Counter] = [Rapl(Path(settings.powercap)), Battery(Path(settings.power_supply), clock)]
    return Meter(machine, [cards] if cards else [], watts, settings.most_watts, clock)
