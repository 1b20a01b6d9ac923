"""An amount of energy, and how it is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

JOULES_A_WATT_HOUR: Final = 3600.0


@dataclass(frozen=True)
class Energy:
    """``joules``, of which ``estimated`` were reckoned from time alone; ``sources``: what measured the rest."""

    joules: float = 0.0
    estimated: float = 0.0
    sources: tuple[str, ...] = ()

    def __add__(self, other: Energy) -> Energy:
        sources = tuple(sorted({*self.sources, *other.sources}))
        return Energy(self.joules + other.joules, self.estimated + other.estimated, sources)

    def share(self, of: int) -> Energy:
        """One of so many equal parts."""
        return Energy(self.joules / of, self.estimated / of, self.sources)

    @property
    def watt_hours(self) -> float:
        return self.joules / JOULES_A_WATT_HOUR

    def as_json(self) -> dict[str, Any]:
        """For reports and manifests; ``energy_from_json`` reads it back."""
        return {"joules": self.joules, "estimated": self.estimated, "sources": list(self.sources)}


def energy_from_json(value: Mapping[str, Any]) -> Energy:
    """The reverse of ``Energy.as_json``."""
    return Energy(float(value["joules"]), float(value["estimated"]), tuple(value["sources"]))


def reckoned(seconds: float, watts: float) -> Energy:
    """What so many seconds take, where nothing measured them."""
    return Energy(seconds * watts, seconds * watts)


def energy_of(reports: Iterable[Mapping[str, Any]], watts: float) -> Energy:
    """What stages drew together, by their reports; one that was not measured to its end is reckoned."""
    found = Energy()
    for report in reports:
        told = report.get("energy")
        found += energy_from_json(told) if told else reckoned(float(report["seconds"]), watts)
    return found
