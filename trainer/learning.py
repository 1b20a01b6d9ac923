"""For whom a run trains: what it starts from, where its files lie, and who is answered with what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.numbered import number_in
from memory.runs import LESSONS, run_folder
from trainer.beginning import begin
from trainer.gate import Verdict
from trainer.learned import learned
from trainer.pipeline.kept import Kept
from trainer.promotion import promote
from trainer.run_files import Inputs, RunFiles


class Learning(Protocol):
    """``kind``: of its runs. ``member``: whose private lessons it trains, an id; None for the family's shared ones."""

    @property
    def kind(self) -> str: ...

    @property
    def member(self) -> str | None: ...

    @property
    def kept(self) -> Kept:
        """Where what its stages make is kept."""
        ...

    def begin(self, run: str, recipe: str, files: RunFiles) -> Inputs:
        """Write a run's ``inputs.json`` and return what it says. Raises what is wrong with the beginning."""
        ...

    def taken_back(self, run: str) -> frozenset[str]:
        """The lessons of a run that were withdrawn since it began."""
        ...

    def promote(
        self, inputs: Inputs, adapter: Path, verdict: Verdict, who: str, on_record: Callable[[str], object]
    ) -> str:
        """Have what was trained answer, and ``on_record`` say so of the run, given its name; that name.

        Raises SwapRefused and what the store raises.
        """
        ...

    def forget_withdrawn(self) -> tuple[str, ...]:
        """Take withdrawn lessons out of the folders of runs that ended; those runs. Raises FileNotWritten."""
        ...


class FamilyLearning:
    """The shared lessons, trained for everybody."""

    kind = LESSONS
    member = None

    def __init__(self, home: Home, settings: Settings, household: Household) -> None:
        self.kept = Kept(household.made, household.artifacts)
        self._home = home
        self._settings = settings
        self._household = household

    def begin(self, run: str, recipe: str, files: RunFiles) -> Inputs:
        return begin(self._home, self._settings, self._household, run, recipe, files)

    def taken_back(self, run: str) -> frozenset[str]:
        return self._household.runs.taken_back().get(run, frozenset())

    def promote(
        self, inputs: Inputs, adapter: Path, verdict: Verdict, who: str, on_record: Callable[[str], object]
    ) -> str:
        household, engine = self._household, self._settings.engine
        files = RunFiles(run_folder(self._home, household.runs.get(inputs.run)))
        known = learned(files, inputs.lessons, household.lessons_for_training())

        def with_lessons(made: str) -> None:
            on_record(made)
            household.learned.record(number_in(made, "v"), known)

        return promote(self._home, engine, household, inputs, adapter, verdict, who, with_lessons).id

    def forget_withdrawn(self) -> tuple[str, ...]:
        return self._household.forget_withdrawn()
