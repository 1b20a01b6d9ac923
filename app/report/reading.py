"""A run read back from its files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.checks import LESSON_DROPPED
from app.report.cost import drawn_of, reckoned_of
from app.report.story import Answer, Measure, Series, Stage, Story, Trial
from memory.runlog import RunEvent, read

if TYPE_CHECKING:
    from memory.runs import Run

MEASURES: Final = Path("evaluate", "measures.json")
# What a step tells that is no curve of its own.
_NO_CURVE: Final = frozenset(
    {"step", "steps", "epoch", "learning_rate", "gradient_norm", "tokens", "loss_scale", "skipped"}
)


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
            Stage(
                name,
                _number(facts.get("seconds")),
                _whole(facts.get("peak_bytes")),
                _number(facts.get("paused")) or 0.0,
                drawn_of(facts.get("energy")),
            )
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
        paused=told.paused,
        drawn=drawn_of(told.took.get("energy")),
        reckoned=reckoned_of(told.reckoned),
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
    paused: float = 0.0
    paused_at: float | None = None
    took: Mapping[str, Any] = field(default_factory=dict)
    reckoned: Mapping[str, Any] = field(default_factory=dict)

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
            case "stage_took":
                self.stages[event.stage] = {**self.stages.get(event.stage, {}), **facts}
            case "paused":
                self.paused_at = event.time
            case "resumed" if self.paused_at is not None:
                self.paused, self.paused_at = self.paused + event.time - self.paused_at, None
            case "reckoned":
                self.reckoned = facts
            case "took":
                self.took = facts
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
