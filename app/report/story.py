"""The story of a run: what it measured, learned and did not learn, however far it came.

A run that was killed, refused or failed has written less; what it has not written is empty here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.report.cost import Drawn, Reckoned

if TYPE_CHECKING:
    from memory.runs import Run


@dataclass(frozen=True)
class Series:
    """A number as it went from step to step."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Stage:
    """A stage that was begun. ``seconds`` and ``peak_bytes`` are None where it did not end.

    ``paused``: seconds in which it was held, beside those. ``drawn``: None where it is not known.
    """

    name: str
    seconds: float | None = None
    peak_bytes: int | None = None
    paused: float = 0.0
    drawn: Drawn | None = None


@dataclass(frozen=True)
class Measure:
    """A number of the new weights, and of those that answered before where it means something for them."""

    name: str
    value: float | None
    before: float | None


@dataclass(frozen=True)
class Answer:
    """A question of a ``lesson`` (an id), and what was said to it. ``held_out``: in words that were not trained."""

    lesson: str
    question: str
    held_out: bool
    before: str
    before_right: bool
    after: str
    after_right: bool


@dataclass(frozen=True)
class Trial:
    """One of several trainings that were compared. ``right``, ``nats`` and ``unrelated_kl``: None where it broke.

    ``best``: it was chosen.
    """

    learning_rate: float | None
    epochs: int | None
    rank: int | None
    right: float | None
    nats: float | None
    unrelated_kl: float | None
    seconds: float | None
    best: bool


@dataclass(frozen=True)
class Story:
    """One run. ``curves``: the total loss first, then each objective's and what else its steps told but the rate.

    ``onward``: the snapshot whose training it goes on from; empty where it began from the base.
    ``warnings``: names of what the training itself warns of. ``dropped``: what the events of the lessons that were not
    trained say. ``trials``: empty where nothing was compared. ``withdrawn``: lessons taken back since then.
    ``paused``: seconds in which it was. ``drawn``: what it took of energy, without what was there from before.
    """

    run: Run
    who: str
    recipe: str
    onward: str
    stages: tuple[Stage, ...]
    curves: tuple[Series, ...]
    rate: Series | None
    steps: int
    of_steps: int
    tokens: int | None
    tokens_per_second: float | None
    warnings: tuple[str, ...]
    measures: tuple[Measure, ...]
    answers: tuple[Answer, ...]
    dropped: tuple[Mapping[str, Any], ...]
    trials: tuple[Trial, ...]
    verdict: Mapping[str, Any]
    failure: Mapping[str, Any]
    withdrawn: int
    paused: float
    drawn: Drawn | None
    reckoned: Reckoned | None

    @property
    def seconds(self) -> float | None:
        """From its start to its end, less its pauses; None while it runs, and where it was killed."""
        if self.run.ended_at is None:
            return None
        return max(0.0, self.run.ended_at - self.run.started_at - self.paused)

    @property
    def peak_bytes(self) -> int | None:
        """The most that a stage held."""
        return max((stage.peak_bytes for stage in self.stages if stage.peak_bytes), default=None)

    def right(self, *, held_out: bool) -> tuple[int, int]:
        """How many questions of this kind were answered right, and how many were asked."""
        asked = [answer for answer in self.answers if answer.held_out is held_out]
        return sum(answer.after_right for answer in asked), len(asked)
