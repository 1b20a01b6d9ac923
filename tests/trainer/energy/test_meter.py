"""What was drawn is told by the best that tells it, and named; where nothing does, it is reckoned, and says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from configs.home import Home
from configs.sections.energy import EnergySettings
from configs.settings import load_settings
from tests.trainer.energy.conftest import Clock, Powercap, supply
from trainer.energy.energy import Energy, energy_from_json, energy_of
from trainer.energy.meter import Meter, meter_of

WATTS = 15.0


@pytest.fixture
def settings(home: Home, powercap: Powercap, supplies: Path) -> EnergySettings:
    told = {"powercap": str(powercap.folder), "power_supply": str(supplies)}
    return load_settings(home, {}, {"training": {"energy": told}}).training.energy


@pytest.fixture
def meter(settings: EnergySettings, clock: Clock) -> Callable[[], Meter]:
    """Made when it is called, on what the folders have then."""
    return lambda: meter_of(settings, WATTS, clock)


def test_without_counters_it_is_reckoned_and_said_so(meter: Callable[[], Meter], clock: Clock) -> None:
    made = meter()
    clock.now += 60
    assert made.drawn() == Energy(900.0, 900.0, ())


def test_the_processors_counters_come_before_the_battery(
    meter: Callable[[], Meter], clock: Clock, powercap: Powercap, supplies: Path
) -> None:
    powercap.zone("intel-rapl:0", "package-0", 0)
    supply(supplies, "BAT0", type="Battery", status="Discharging", power_now=40_000_000)
    made = meter()
    clock.now += 10
    powercap.count("intel-rapl:0", 250_000_000)
    assert made.drawn() == Energy(250.0, 0.0, ("rapl",))
    clock.now += 10
    (powercap.folder / "intel-rapl:0" / "energy_uj").unlink()
    assert made.drawn() == Energy(400.0, 0.0, ("battery",))


def test_a_counter_that_was_set_back_is_not_taken_for_use(
    meter: Callable[[], Meter], clock: Clock, powercap: Powercap
) -> None:
    powercap.zone("intel-rapl:0", "package-0", 90_000_000)
    made = meter()
    clock.now += 5
    # As after a suspension: it seems to have come around, and 262 kJ in five seconds no house can give.
    powercap.count("intel-rapl:0", 1_000_000)
    assert made.drawn() == Energy(75.0, 75.0, ())
    clock.now += 5
    powercap.count("intel-rapl:0", 101_000_000)
    assert made.drawn() == Energy(100.0, 0.0, ("rapl",))


class Cards(ModuleType):
    """NVML as its library has it, of cards that are not here. ``millijoules``: what each has counted."""

    class NVMLError(Exception):
        """Anything that goes wrong."""

    class NVMLError_NotSupported(NVMLError):  # noqa: N801 - the library's own name
        """The card has no such counter."""

    def __init__(self, millijoules: list[int | None], milliwatts: int = 0, driver: bool = True) -> None:
        super().__init__("pynvml")
        self.__spec__ = sys.__spec__
        self.millijoules = millijoules
        self.milliwatts = milliwatts
        self._driver = driver

    def nvmlInit(self) -> None:  # noqa: N802
        if not self._driver:
            raise self.NVMLError

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.millijoules)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802
        found = self.millijoules[handle]
        if found is None:
            raise self.NVMLError_NotSupported
        return found

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802
        return self.milliwatts


def test_graphics_cards_are_added_to_what_the_processor_drew(
    meter: Callable[[], Meter], clock: Clock, powercap: Powercap, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = Cards([1_000_000, None], milliwatts=50_000)
    monkeypatch.setitem(sys.modules, "pynvml", cards)
    powercap.zone("intel-rapl:0", "package-0", 0)
    made = meter()
    clock.now += 10
    powercap.count("intel-rapl:0", 100_000_000)
    cards.millijoules[0] = 1_800_000
    assert made.drawn() == Energy(100.0 + 800.0 + 500.0, 0.0, ("nvml", "rapl"))


def test_a_battery_has_given_the_cards_theirs_too(
    meter: Callable[[], Meter], clock: Clock, supplies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = Cards([0])
    monkeypatch.setitem(sys.modules, "pynvml", cards)
    supply(supplies, "BAT0", type="Battery", status="Discharging", power_now=40_000_000)
    made = meter()
    clock.now += 10
    cards.millijoules[0] = 300_000
    assert made.drawn() == Energy(400.0, 0.0, ("battery",))


@pytest.mark.parametrize("cards", [Cards([0], driver=False), Cards([])])
def test_the_library_without_a_driver_or_a_card_adds_nothing(
    meter: Callable[[], Meter], clock: Clock, monkeypatch: pytest.MonkeyPatch, cards: Cards
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", cards)
    made = meter()
    clock.now += 10
    assert made.drawn() == Energy(150.0, 150.0, ())


def test_of_several_stages_what_was_not_measured_is_reckoned_and_the_sum_says_so() -> None:
    measured = {"seconds": 10.0, "energy": Energy(500.0, 0.0, ("rapl",)).as_json()}
    cut_short = {"seconds": 4.0}
    assert energy_of([measured], WATTS) == Energy(500.0, 0.0, ("rapl",))
    assert energy_of([measured, cut_short], WATTS) == Energy(560.0, 60.0, ("rapl",))
    assert energy_from_json(Energy(2.0, 1.0, ("nvml",)).as_json()) == Energy(2.0, 1.0, ("nvml",))
