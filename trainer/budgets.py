"""What a run may take, of time and of energy: looked at before it begins, after each stage, and all the time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from configs.sections.budget import BudgetSettings
from trainer.costs import Costs
from trainer.energy.energy import JOULES_A_WATT_HOUR
from trainer.errors import RestTooCostly, RestTooLong, RunTooCostly, RunTooLong, StageTooCostly, TrainerError
from trainer.pipeline.estimate import Estimate, together

_WHOLE = 100


def too_much(reckoned: Iterable[Estimate], budget: BudgetSettings) -> list[TrainerError]:
    """Why a run that takes this must not begin: RunTooLong, RunTooCostly; none where it may."""
    run = together(reckoned)
    watt_hours = run.joules / JOULES_A_WATT_HOUR
    found: list[TrainerError] = []
    if run.seconds > budget.run_seconds:
        found.append(RunTooLong(seconds=_digits(run.seconds), budget=_digits(budget.run_seconds)))
    if watt_hours > budget.run_watt_hours:
        found.append(RunTooCostly(watt_hours=_digits(watt_hours), budget=_digits(budget.run_watt_hours)))
    return found


class Budgets:
    """Of one run, which begins now. May be used from several threads."""

    def __init__(self, budget: BudgetSettings, costs: Costs) -> None:
        self._budget = budget
        self._costs = costs
        self._left: dict[str, Estimate] = {}
        self.ends_at = costs.clock() + budget.run_seconds

    def expect(self, reckoned: Mapping[str, Estimate]) -> None:
        """Know what the stages will take. Raises RunTooLong, RunTooCostly."""
        for error in too_much(reckoned.values(), self._budget):
            raise error
        self._left = dict(reckoned)

    def done(self, stage: str) -> None:
        """See whether what is left still fits. Raises RestTooLong, RestTooCostly."""
        if self._left.pop(stage, None) is None or not self._left:
            return
        took, rest = self._costs.total(), together(self._left.values())
        seconds = took.seconds + rest.seconds
        if seconds > self._budget.run_seconds:
            raise RestTooLong(stage=stage, seconds=_digits(seconds), budget=_digits(self._budget.run_seconds))
        # What the machine has drawn until now tells more than what was thought before.
        more = took.energy.joules / took.seconds * rest.seconds if took.energy.joules else rest.joules
        watt_hours = (took.energy.joules + more) / JOULES_A_WATT_HOUR
        if watt_hours > self._budget.run_watt_hours:
            raise RestTooCostly(
                stage=stage, watt_hours=_digits(watt_hours), budget=_digits(self._budget.run_watt_hours)
            )

    def check_energy(self, stage: str) -> None:
        """Raises StageTooCostly where the run has drawn all that it may."""
        if self._costs.look().watt_hours > self._budget.run_watt_hours:
            raise StageTooCostly(stage=stage, budget=_digits(self._budget.run_watt_hours))

    def seconds_left(self) -> float:
        """Until the time is spent, or at this pace the energy."""
        took = self._costs.total()
        left = self.ends_at - self._costs.clock()
        if not took.energy.watt_hours:
            return left
        pace = took.energy.watt_hours / took.seconds
        return min(left, (self._budget.run_watt_hours - took.energy.watt_hours) / pace)


def _digits(value: float) -> float:
    """What is told of a number: whole from a hundred on, and else three digits."""
    return float(f"{value:.3g}") if value < _WHOLE else round(value)
