"""A run's time and energy are those in which its stages worked: pauses are told beside, and budgets are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from configs.home import Home
from configs.sections.budget import BudgetSettings
from configs.settings import load_settings
from trainer.budgets import Budgets, too_much
from trainer.costs import Costs
from trainer.energy.energy import Energy
from trainer.errors import RestTooCostly, RestTooLong, RunTooCostly, RunTooLong, StageTooCostly, TrainerError
from trainer.pipeline.estimate import Estimate

WATTS = 100.0


@dataclass
class House:
    """A clock and what draws 100 watts all the time."""

    now: float = 50.0
    _asked: float = 50.0
    costs: Costs = field(init=False)

    def __post_init__(self) -> None:
        self.costs = Costs(self, every_s=5.0, monotonic=lambda: self.now)

    def drawn(self) -> Energy:
        seconds, self._asked = self.now - self._asked, self.now
        return Energy(WATTS * seconds, 0.0, ("rapl",))

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.costs.look()


@pytest.fixture
def house() -> House:
    return House()


def test_what_is_drawn_in_a_stage_is_its_own_and_in_between_nobodys(house: House) -> None:
    house.passes(3)
    house.costs.begin("prepare")
    house.passes(10)
    assert house.costs.end("prepare").joules == pytest.approx(1000)
    house.passes(7)
    house.costs.begin("train")
    house.passes(2)
    assert house.costs.end("train").joules == pytest.approx(200)
    assert house.costs.total().energy.joules == pytest.approx(1200)


def test_a_pause_is_no_work_and_what_is_drawn_meanwhile_is_others(house: House) -> None:
    began = house.now
    house.costs.begin("train")
    house.passes(10)
    assert house.costs.hold()
    stands = house.costs.clock()
    house.passes(3600)
    assert house.costs.clock() == stands
    assert house.costs.go_on()
    house.passes(20)
    assert house.costs.end("train").joules == pytest.approx(3000)
    assert house.costs.worked(began, 3630) == (30, 3600)
    # Of a process that began while it was held, only what lies in its own time.
    assert house.costs.worked(began + 1010, 2620) == (20, 2600)
    total = house.costs.total()
    assert total.seconds == pytest.approx(30)
    assert total.paused == pytest.approx(3600)


def test_stages_at_once_share_what_is_drawn_and_are_paused_once(house: House) -> None:
    house.costs.begin("one")
    house.passes(4)
    house.costs.begin("other")
    house.passes(10)
    assert house.costs.hold()
    assert not house.costs.hold()
    house.passes(100)
    assert not house.costs.go_on()
    house.passes(100)
    assert house.costs.go_on()
    assert house.costs.end("one").joules == pytest.approx(400 + 500)
    house.passes(10)
    assert house.costs.end("other").joules == pytest.approx(500 + 1000)
    assert house.costs.total().paused == pytest.approx(200)


@pytest.fixture
def budget(home: Home) -> BudgetSettings:
    told = {"run_seconds": 1000, "run_watt_hours": 30}
    return load_settings(home, {}, {"training": {"budget": told}}).training.budget


def reckoned(seconds: float, watts: float) -> Estimate:
    return Estimate(1.0, seconds, seconds * watts, measured=True, drawn=True)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ((reckoned(500, 50), reckoned(500, 50)), []),
        ((reckoned(600, 50), reckoned(500, 50)), [RunTooLong(seconds=1100, budget=1000)]),
        ((reckoned(500, 250), reckoned(500, 50)), [RunTooCostly(watt_hours=41.7, budget=30.0)]),
        ((reckoned(1200, 250),), [RunTooLong(seconds=1200, budget=1000), RunTooCostly(watt_hours=83.3, budget=30.0)]),
    ],
)
def test_what_takes_too_much_does_not_begin(
    budget: BudgetSettings, stages: tuple[Estimate, ...], expected: list[TrainerError]
) -> None:
    found = too_much(stages, budget)
    assert [(type(each), each.facts) for each in found] == [(type(each), each.facts) for each in expected]


def test_after_each_stage_it_is_seen_whether_the_rest_still_fits(house: House, budget: BudgetSettings) -> None:
    budgets = Budgets(budget, house.costs)
    budgets.expect({"prepare": reckoned(10, 50), "train": reckoned(500, 50), "evaluate": reckoned(300, 50)})
    house.costs.begin("prepare")
    house.passes(150)
    house.costs.end("prepare")
    budgets.done("prepare")
    house.costs.begin("train")
    house.passes(560)
    house.costs.end("train")
    with pytest.raises(RestTooLong) as raised:
        budgets.done("train")
    assert raised.value.facts == {"stage": "train", "seconds": 1010, "budget": 1000}


def test_what_the_machine_has_drawn_tells_what_the_rest_will(house: House, budget: BudgetSettings) -> None:
    budgets = Budgets(budget.model_copy(update={"run_seconds": 2000.0}), house.costs)
    # Reckoned at 50 watts, and it draws 100.
    budgets.expect({"prepare": reckoned(100, 50), "train": reckoned(850, 50)})
    house.costs.begin("prepare")
    house.passes(300)
    house.costs.end("prepare")
    with pytest.raises(RestTooCostly) as raised:
        budgets.done("prepare")
    assert raised.value.facts == {"stage": "prepare", "watt_hours": 31.9, "budget": 30.0}


def test_a_stage_that_has_drawn_all_that_there_is_ends(house: House, budget: BudgetSettings) -> None:
    budgets = Budgets(budget, house.costs)
    house.costs.begin("train")
    house.passes(700)
    budgets.check_energy("train")
    assert budgets.seconds_left() == pytest.approx(300)
    house.passes(300)
    budgets.check_energy("train")
    house.costs.begin("evaluate")
    house.passes(200)
    with pytest.raises(StageTooCostly):
        budgets.check_energy("evaluate")


def test_time_ends_no_later_than_the_energy_does(house: House, budget: BudgetSettings) -> None:
    few = budget.model_copy(update={"run_watt_hours": 10.0})
    budgets = Budgets(few, house.costs)
    assert budgets.seconds_left() == pytest.approx(1000)
    house.costs.begin("train")
    house.passes(100)
    # 36 kJ at 100 watts last 360 seconds.
    assert budgets.seconds_left() == pytest.approx(260)
