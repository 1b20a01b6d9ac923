"""A run read back from its files: what it measured, learned and did not learn, however far it came.

A run that was killed, refused or failed has written less; what it has not written is empty here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.checks import LESSON_DROPPED
from memory.runlog import RunEvent, read

if TYPE_CHECKING:
    from memory.runs import Run

MEASURES: Final = Path("evaluate", "measures.json")
# What a step tells that is no curve of its own.
_NO_CURVE: Final = frozenset(
    {"step", "steps", "epoch", "learning_rate", "gradient_norm", "tokens", "loss_scale", "skipped"}
)


@dataclass(frozen=True)
class Series:
    """A number as it went from step to step."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Stage:
    """A stage that was begun. ``seconds`` and ``peak_bytes`` are None where it did not end."""

    name: str
    seconds: float | None = None
    peak_bytes: int | None = None


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

    @property
    def seconds(self) -> float | None:
        """From its start to its end; None while it runs, and where it was killed."""
        return None if self.run.ended_at is None else self.run.ended_at - self.run.started_at

    @property
    def peak_bytes(self) -> int | None:
        """The most that a stage held."""
        return max((stage.peak_bytes for stage in self.stages if stage.peak_bytes), default=None)

    def right(self, *, held_out: bool) -> tuple[int, int]:
        """How many questions of this kind were answered right, and how many were asked."""
        asked = [answer for answer in self.answers if answer.held_out is held_out]
        return sum(answer.after_right for answer in asked), len(asked)


def read_story(folder: Path, run: Run) -> Story:
    """What the files in ``folder`` say of ``run``; a folder that is not there says nothing."""
    told = _Told()
    for event in read(folder)[0]:
        told.take(event)
    train = told.stages.get("train", {})
    return Story(
        run=run,
        who=told.who,
        recipe=told.recipe,
        onward=told.onward,
        stages=tuple(
            Stage(name, _number(facts.get("seconds")), _whole(facts.get("peak_bytes")))
            for name, facts in told.stages.items()
        ),
        curves=tuple(told.series(_curve_names(told.steps.values()))),
        rate=next(told.series(["learning_rate"]), None),
        steps=len(told.steps),
        of_steps=told.of_steps,
        tokens=_whole(train.get("tokens")),
        tokens_per_second=_number(train.get("tokens_per_second")),
        warnings=tuple(map(str, train.get("warnings", ()))),
        measures=tuple(told.measures.values()),
        answers=_answers(folder / MEASURES),
        dropped=tuple(told.dropped),
        trials=_trials(told.trials),
        verdict=told.verdict,
        failure=told.failure,
        withdrawn=told.withdrawn,
    )


@dataclass
class _Told:
    """What the events have told so far."""

    who: str = ""
    recipe: str = ""
    onward: str = ""
    stages: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    steps: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    of_steps: int = 0
    measures: dict[str, Measure] = field(default_factory=dict)
    dropped: list[Mapping[str, Any]] = field(default_factory=list)
    trials: list[Mapping[str, Any]] = field(default_factory=list)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, Any] = field(default_factory=dict)
    withdrawn: int = 0

    def take(self, event: RunEvent) -> None:
        facts = event.facts or {}
        match event.kind:
            case "run_started":
                self.who, self.recipe = str(facts.get("who", "")), str(facts.get("recipe", ""))
            case "going_on":
                self.onward = str(facts["snapshot"])
            case "stage_started":
                self.stages.setdefault(event.stage, {})
            case "stage_done":
                self.stages[event.stage] = facts
            case "step":
                self._step(facts)
            case "measure" if facts.get("name") == LESSON_DROPPED:
                self.dropped.append(facts)
            case "measure" if "name" in facts:
                name = str(facts["name"])
                self.measures[name] = Measure(name, _number(facts.get("value")), _number(facts.get("before")))
            case "choice_done":
                self.trials.append(facts)
            case "verdict":
                self.verdict = facts
            case "overridden":
                self.verdict = {**self.verdict, "override": facts}
            case "run_failed":
                self.failure = facts
            case "lessons_withdrawn":
                self.withdrawn += len(facts.get("lessons", ()))

    def series(self, names: Iterable[str]) -> Iterator[Series]:
        """The numbers called so, each with the steps that told it."""
        for name in names:
            points = [
                (step, value) for step, facts in self.steps.items() if (value := _number(facts.get(name))) is not None
            ]
            if points:
                yield Series(name, tuple(step for step, _ in points), tuple(value for _, value in points))

    def _step(self, facts: Mapping[str, Any]) -> None:
        number = _whole(facts.get("step"))
        if number is None:
            return
        if number == 1:
            # Another attempt: what counts is the last one.
            self.steps.clear()
        # A step that was taken again after an interruption is told twice.
        self.steps[number] = facts
        self.of_steps = _whole(facts.get("steps")) or 0


def _curve_names(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """All that was told of the steps, in the order in which it was told first, after the total."""
    names = {name: None for facts in steps for name in facts if name not in _NO_CURVE and name != "loss"}
    return ["loss", *names]


def _answers(path: Path) -> tuple[Answer, ...]:
    if not path.is_file():
        return ()
    found = json.loads(path.read_text(encoding="utf-8")).get("answers", ())
    return tuple(
        Answer(
            str(each["lesson"]),
            str(each["question"]),
            bool(each["held_out"]),
            str(each["before"]),
            bool(each["before_right"]),
            str(each["after"]),
            bool(each["after_right"]),
        )
        for each in found
    )


def _trials(told: Sequence[Mapping[str, Any]]) -> tuple[Trial, ...]:
    # Each told whether it was the best so far: the last one of these is what was chosen.
    chosen = max((place for place, facts in enumerate(told) if facts.get("best")), default=None)
    return tuple(
        Trial(
            _number(facts.get("learning_rate")),
            _whole(facts.get("epochs")),
            _whole(facts.get("rank")),
            _number(facts.get("right")),
            _number(facts.get("nats")),
            _number(facts.get("unrelated_kl")),
            _number(facts.get("seconds")),
            place == chosen,
        )
        for place, facts in enumerate(told)
    )


def _number(value: Any) -> float | None:
    """A finite number, or None: what is none cannot be drawn."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
