"""What a training took and what it was reckoned to take, as its events tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_JOULES_A_WATT_HOUR: Final = 3600.0
_KILO: Final = 1000.0
_JOULES: Final = "joules"


@dataclass(frozen=True)
class Drawn:
    """An amount of energy: ``joules``, of which ``estimated`` were reckoned and the rest measured."""

    joules: float
    estimated: float


@dataclass(frozen=True)
class Reckoned:
    """What a training was thought to take before it began. ``measured``: its seconds by an earlier one here.

    ``drawn``: its joules by what that one was measured to draw.
    """

    seconds: float
    joules: float
    measured: bool
    drawn: bool


def drawn_of(told: Mapping[str, Any] | None) -> Drawn | None:
    """The energy of a report or an event; None where it tells of none."""
    if not told or not isinstance(told.get(_JOULES), int | float):
        return None
    return Drawn(float(told[_JOULES]), float(told.get("estimated", told[_JOULES])))


def reckoned_of(told: Mapping[str, Any] | None) -> Reckoned | None:
    """What the event ``reckoned`` tells, where there was one."""
    if not told:
        return None
    return Reckoned(float(told["seconds"]), float(told[_JOULES]), bool(told["measured"]), bool(told["drawn"]))


def watt_hours(joules: float) -> str:
    """Three digits with their unit."""
    amount = joules / _JOULES_A_WATT_HOUR
    return f"{amount / _KILO:.3g} kWh" if amount >= _KILO else f"{amount:.3g} Wh"


def energy_short(drawn: Drawn | None) -> str:
    """For a table: with a sign before it where not all of it was measured; a dash where it is not known."""
    if drawn is None:
        return "—"
    return f"{'≈ ' if drawn.estimated else ''}{watt_hours(drawn.joules)}"
