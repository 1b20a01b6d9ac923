"""What the machine says of itself: its power, its warmth, and for how long it has answered nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil

from trainer.courtesy import Answering

# The processor's own sensors, as Linux's drivers name them; others, as those of a disk, are warm for reasons of theirs.
PROCESSOR_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal", "acpitz")


class Machine:
    """This machine. Whatever it cannot tell is None."""

    def __init__(self, busy_flag: Path, clock: Callable[[], float]) -> None:
        self._busy_flag = busy_flag
        self._answering = Answering(busy_flag)
        self._clock = clock

    def on_mains(self) -> bool | None:
        """Whether it has mains power."""
        try:
            battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
        except (OSError, ValueError):
            return None
        return None if battery is None else battery.power_plugged

    def celsius(self) -> float | None:
        """How warm the processor is: the warmest of its sensors."""
        try:
            sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
        except (OSError, ValueError):
            return None
        return max((each.current for name in PROCESSOR_SENSORS for each in sensors.get(name, ())), default=None)

    def idle_seconds(self) -> float | None:
        """For how long nobody has been answered here; 0 while somebody is.

        None where nobody ever was, or where the clock was set back since.
        """
        if self._answering():
            return 0.0
        try:
            idle = self._clock() - self._busy_flag.stat().st_mtime
        except OSError:
            return None
        return idle if idle >= 0 else None
