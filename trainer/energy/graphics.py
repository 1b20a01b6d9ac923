"""The energy of NVIDIA's graphics cards, by NVML, where its Python library (nvidia-ml-py) is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, Final

_MILLI: Final = 1e-3
_LIBRARY: Final = "pynvml"


class Graphics:
    """All cards of this machine together, whoever uses them."""

    name = "nvml"

    def __init__(self, library: Any, clock: Callable[[], float]) -> None:
        self._library = library
        self._clock = clock
        count = library.nvmlDeviceGetCount()
        self._cards = [_Card(library, library.nvmlDeviceGetHandleByIndex(index)) for index in range(count)]
        self._last = clock()

    def joules(self) -> float | None:
        """As ``Counter`` has it; None where there is no card, or one does not tell."""
        now = self._clock()
        passed, self._last = now - self._last, now
        try:
            drawn = [card.joules(passed) for card in self._cards]
        except self._library.NVMLError:
            return None
        known = [each for each in drawn if each is not None]
        return sum(known) if known and len(known) == len(drawn) else None


class _Card:
    """One card: by its counter (Volta and later), and else by its power at both ends of the time."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library = library
        self._handle = handle
        self._last: float | None = None

    def joules(self, seconds: float) -> float | None:
        """Since the last call, which was so long ago. Raises NVMLError."""
        before = self._last
        try:
            self._last = self._library.nvmlDeviceGetTotalEnergyConsumption(self._handle) * _MILLI
        except self._library.NVMLError_NotSupported:
            self._last = self._library.nvmlDeviceGetPowerUsage(self._handle) * _MILLI
            return None if before is None else (before + self._last) / 2 * seconds
        # It begins anew where the driver is loaded again.
        return None if before is None or self._last < before else self._last - before


def graphics(clock: Callable[[], float]) -> Graphics | None:
    """The cards of this machine; None without the library, without a driver, and without a card."""
    if importlib.util.find_spec(_LIBRARY) is None:
        return None
    library: Any = importlib.import_module(_LIBRARY)
    try:
        library.nvmlInit()
        return Graphics(library, clock) if library.nvmlDeviceGetCount() else None
    except library.NVMLError:
        return None
