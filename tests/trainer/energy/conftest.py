"""Folders of files like the kernel's, as machines have them that this one need not be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

RANGE = 262_143_328_850  # microjoules, as Intel's packages have it


@dataclass
class Clock:
    """Seconds that pass where a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Powercap:
    """``/sys/class/powercap``: the zones of processors, their links flat in it as the kernel has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def zone(self, name: str, called: str, microjoules: int, most: int | None = RANGE) -> Path:
        """A zone, below the one that its name begins with; it is a link in the folder as well."""
        parent = name.rpartition(":")[0]
        place = self.folder / parent / name if ":" in parent else self.folder / name
        place.mkdir(parents=True)
        (place / "name").write_text(called + "\n")
        (place / "energy_uj").write_text(f"{microjoules}\n")
        if most is not None:
            (place / "max_energy_range_uj").write_text(f"{most}\n")
        if place.parent != self.folder:
            (self.folder / name).symlink_to(place, target_is_directory=True)
        return place

    def count(self, name: str, microjoules: int) -> None:
        """What a zone says from now on."""
        (self.folder / name / "energy_uj").write_text(f"{microjoules}\n")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def powercap(tmp_path: Path) -> Powercap:
    return Powercap(tmp_path / "powercap")


@pytest.fixture
def supplies(tmp_path: Path) -> Path:
    """``/sys/class/power_supply``, with nothing in it."""
    folder = tmp_path / "power_supply"
    folder.mkdir()
    return folder


def supply(folder: Path, name: str, **told: str | int) -> None:
    """A battery or an adapter, which tells this."""
    (folder / name).mkdir(exist_ok=True)
    for key, value in told.items():
        (folder / name / key).write_text(f"{value}\n")
