"""What a machine counts of its energy is read as the kernel tells it, and a part of it is never taken for the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trainer.energy.conftest import RANGE, Clock, Powercap, supply
from trainer.energy.counters import Battery, Rapl


def test_every_package_counts_and_its_memory_but_no_part_of_it_twice(powercap: Powercap) -> None:
    powercap.zone("intel-rapl:0", "package-0", 1_000_000)
    powercap.zone("intel-rapl:0:0", "core", 500_000)
    powercap.zone("intel-rapl:0:1", "dram", 100_000)
    powercap.zone("intel-rapl:1", "package-1", 2_000_000)
    powercap.zone("intel-rapl:2", "psys", 9_000_000)
    powercap.zone("intel-rapl-mmio:0", "package-0", 1_000_000)
    rapl = Rapl(powercap.folder)
    assert rapl.joules() is None
    for name, microjoules in (
        ("intel-rapl:0", 4_000_000),
        ("intel-rapl:0:0", 2_500_000),
        ("intel-rapl:0:1", 600_000),
        ("intel-rapl:1", 3_000_000),
        ("intel-rapl:2", 99_000_000),
        ("intel-rapl-mmio:0", 4_000_000),
    ):
        powercap.count(name, microjoules)
    assert rapl.joules() == pytest.approx(3.0 + 0.5 + 1.0)
    assert rapl.joules() == 0.0


def test_a_counter_that_came_around_goes_on(powercap: Powercap) -> None:
    powercap.zone("intel-rapl:0", "package-0-die-1", RANGE - 1_000_000)
    rapl = Rapl(powercap.folder)
    rapl.joules()
    powercap.count("intel-rapl:0", 2_000_000)
    assert rapl.joules() == pytest.approx(3.0)


def test_one_that_came_around_without_saying_where_tells_nothing_once(powercap: Powercap) -> None:
    powercap.zone("intel-rapl:0", "package-0", 9_000_000, most=None)
    rapl = Rapl(powercap.folder)
    rapl.joules()
    powercap.count("intel-rapl:0", 1_000_000)
    assert rapl.joules() is None
    powercap.count("intel-rapl:0", 2_000_000)
    assert rapl.joules() == pytest.approx(1.0)


@pytest.mark.parametrize("content", [None, "", "none\n"])
def test_packages_that_cannot_all_be_read_tell_nothing(powercap: Powercap, content: str | None) -> None:
    powercap.zone("intel-rapl:0", "package-0", 1_000_000)
    hidden = powercap.zone("intel-rapl:1", "package-1", 1_000_000) / "energy_uj"
    if content is None:
        # As one that only the administrator may read; who runs this may be that.
        hidden.unlink()
        hidden.mkdir()
    else:
        hidden.write_text(content)
    rapl = Rapl(powercap.folder)
    rapl.joules()
    powercap.count("intel-rapl:0", 5_000_000)
    assert rapl.joules() is None


def test_a_machine_without_such_counters_tells_nothing(tmp_path: Path) -> None:
    rapl = Rapl(tmp_path / "not-there")
    assert (rapl.joules(), rapl.joules()) == (None, None)


def test_a_battery_tells_what_is_drawn_while_it_is_the_only_source(supplies: Path, clock: Clock) -> None:
    supply(supplies, "AC", type="Mains", online=0)
    supply(supplies, "BAT0", type="Battery", status="Discharging", power_now=20_000_000)
    supply(supplies, "mouse", type="Battery", scope="Device", status="Discharging", power_now=1_000_000)
    battery = Battery(supplies, clock)
    assert battery.joules() is None
    clock.now += 10
    supply(supplies, "BAT0", power_now=30_000_000)
    assert battery.joules() == pytest.approx(250.0)
    clock.now += 10
    supply(supplies, "BAT0", status="Charging")
    assert battery.joules() is None
    clock.now += 10
    supply(supplies, "BAT0", status="Discharging")
    # Since when it has been the only source, nobody knows.
    assert battery.joules() is None


def test_a_battery_that_tells_current_and_voltage_is_understood_and_signs_do_not_matter(
    supplies: Path, clock: Clock
) -> None:
    told = {"current_now": -2_000_000, "voltage_now": 11_000_000}
    supply(supplies, "BAT0", type="Battery", status="Discharging", **told)
    supply(supplies, "BAT1", type="Battery", status="Full", current_now=0, voltage_now=12_000_000)
    battery = Battery(supplies, clock)
    battery.joules()
    clock.now += 5
    assert battery.joules() == pytest.approx(110.0)


def test_a_battery_that_does_not_tell_how_much_it_gives_tells_nothing(supplies: Path, clock: Clock) -> None:
    supply(supplies, "BAT0", type="Battery", status="Discharging", power_now=20_000_000)
    supply(supplies, "BAT1", type="Battery", status="Discharging", power_now=0)
    battery = Battery(supplies, clock)
    battery.joules()
    clock.now += 5
    assert battery.joules() is None
