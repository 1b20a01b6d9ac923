"""What a machine has that counts its energy, or tells its power: each says what was drawn since it was asked last.

The kernel's files are as Documentation/power/powercap/powercap.rst and Documentation/ABI/testing/sysfs-class-power of
Linux have them: microjoules; microwatts, or microamperes and microvolts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

_MICRO: Final = 1e-6
# Zones of a processor package, and below it of its memory; "intel-rapl-mmio" counts the same packages once more.
_PACKAGE: Final = re.compile(r"intel-rapl:\d+")
_PACKAGE_NAME: Final = re.compile(r"package-\d+(-die-\d+)?")
_MEMORY_NAME: Final = "dram"


class Counter(Protocol):
    """``name``: what it is called in reports."""

    name: str

    def joules(self) -> float | None:
        """What was drawn since the last call; None where it cannot tell, as at the first one."""


@dataclass
class _Zone:
    """One counter of RAPL. ``range``: where it comes around to 0, in microjoules."""

    path: Path
    range: int | None
    last: int | None = None

    def microjoules(self) -> int | None:
        """What it has counted since the last call; None at the first one, and where it cannot be read."""
        before, self.last = self.last, _whole(self.path)
        if before is None or self.last is None:
            return None
        if self.last >= before:
            return self.last - before
        return None if self.range is None else self.last - before + self.range


class Rapl:
    """The processor's packages and their memory (RAPL), all of them or none.

    Since 2020 only the administrator may read them on most systems (CVE-2020-8694); then they tell nothing.
    """

    name = "rapl"

    def __init__(self, folder: Path) -> None:
        # Not "psys": where there is one it holds the packages too, and what else it holds is each maker's.
        self._zones = [_Zone(zone / "energy_uj", _whole(zone / "max_energy_range_uj")) for zone in _zones(folder)]

    def joules(self) -> float | None:
        """As ``Counter`` has it. Of several packages that are not all to be read it is None: a part would mislead."""
        counted = [zone.microjoules() for zone in self._zones]
        known = [each for each in counted if each is not None]
        return sum(known) * _MICRO if known and len(known) == len(counted) else None


class Battery:
    """All that the machine draws, while it runs on its batteries and is connected to nothing."""

    name = "battery"

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._last: tuple[float, float] | None = None

    def joules(self) -> float | None:
        """As ``Counter`` has it, by the mean of the power at both ends of the time."""
        before, now, watts = self._last, self._clock(), self._watts()
        self._last = None if watts is None else (now, watts)
        if before is None or watts is None:
            return None
        return (before[1] + watts) / 2 * (now - before[0])

    def _watts(self) -> float | None:
        """What they give; None where one is charged, or does not tell."""
        found = []
        for battery in sorted(self._folder.glob("*")):
            if _text(battery / "type") != "Battery" or _text(battery / "scope") == "Device":
                # A mains adapter; the battery of a mouse.
                continue
            status = _text(battery / "status")
            if status == "Discharging":
                found.append(_power(battery))
            elif status == "Charging":
                return None
        known = [each for each in found if each]
        return sum(known) if known and len(known) == len(found) else None


def _power(battery: Path) -> float | None:
    """Watts. Some drivers sign what is drawn."""
    power = _whole(battery / "power_now")
    if power is not None:
        return abs(power) * _MICRO
    current, voltage = _whole(battery / "current_now"), _whole(battery / "voltage_now")
    return None if current is None or voltage is None else abs(current) * _MICRO * voltage * _MICRO


def _zones(folder: Path) -> Iterator[Path]:
    for package in sorted(folder.glob("*")):
        if _PACKAGE.fullmatch(package.name) and _PACKAGE_NAME.fullmatch(_text(package / "name")):
            yield package
            # What it has below lies in it, and beside it as well.
            for part in sorted(package.glob(f"{package.name}:*")):
                if _text(part / "name") == _MEMORY_NAME:
                    yield part


def _text(path: Path) -> str:
    """What a file of the kernel's says; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _whole(path: Path) -> int | None:
    try:
        return int(_text(path))
    except ValueError:
        return None
