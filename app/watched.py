"""What is known of a run from its events alone: its stages, its loss, and how long it will still take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.checks import LESSON_DROPPED
from app.report.cost import Drawn, drawn_of
from memory.runlog import RunEvent

# From this share on, what is done says how long the rest takes.
_TELLING_SHARE: Final = 0.05


@dataclass
class StageSeen:
    """``began``: seconds since 1970; ``seconds``: how long it took, None while it runs; ``paused``: seconds beside.

    ``made_by``: the run that had made the same, which was taken; empty where it was made.
    """

    began: float
    seconds: float | None = None
    made_by: str = ""
    paused: float = 0.0
    drawn: Drawn | None = None


@dataclass
class Watched:
    """``started``: when the run began, seconds since 1970; ``before``: what each stage took in the run before it."""

    run_id: str
    started: float
    before: Mapping[str, float] = field(default_factory=dict)
    stage: str = ""
    fraction: float = 0.0
    planned: tuple[str, ...] = ()
    stages: dict[str, StageSeen] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    step: Mapping[str, Any] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, Any] = field(default_factory=dict)
    promoted: str = ""
    blamed: str = ""
    trying: Mapping[str, Any] = field(default_factory=dict)
    dropped: list[Mapping[str, Any]] = field(default_factory=list)
    paused_at: float | None = None
    held_s: float = 0.0
    # The first and the last step that were taken without a pause between them: (time, step); and in which stage.
    _pace: list[tuple[float, int]] = field(default_factory=list)
    _paced: str = ""

    def take(self, event: RunEvent) -> None:
        """Add one event."""
        facts = event.facts or {}
        self.stage = event.stage or self.stage
        self.fraction = self.fraction if event.fraction is None else event.fraction
        match event.kind:
            case "run_started":
                self.blamed = str(facts.get("blamed", ""))
            case "planned":
                self.planned = tuple(map(str, facts.get("stages", ())))
            case "stage_skipped":
                self.stages[str(facts.get("stage"))] = StageSeen(event.time, 0.0, str(facts.get("run", "")))
            case "stage_started":
                self.stages[event.stage] = StageSeen(event.time)
            case "stage_done":
                self._done(event, facts)
            case "stage_took":
                self._took(event, facts)
            case "paused":
                self.paused_at = event.time
            case "resumed":
                self._go_on(event.time)
            case "choice_started":
                self.trying = facts
            case "choice_done":
                self.trying = {}
            case "step" if "loss" in facts:
                self._step(event, facts)
            case "measure" if facts.get("name") == LESSON_DROPPED:
                self.dropped.append(facts)
            case "verdict":
                self.verdict = facts
            case "overridden":
                self.verdict = {**self.verdict, "override": facts}
            case "promoted":
                self.promoted = str(facts.get("snapshot", ""))
            case "run_failed":
                self.failure = facts
            case "run_done":
                self.fraction = 1.0

    @property
    def loss(self) -> float | None:
        """The last step's; None where the stage that runs has taken none."""
        return self.losses[-1] if self.losses and self._paced == self.stage else None

    def seconds_left(self, now: float) -> float | None:
        """How long it will still take, by the pace of its steps and by the run before; None where nothing tells."""
        if self.trying or self.blamed or self.paused_at is not None:
            return None
        left = 0.0
        for name in self.planned:
            of_stage = self._stage_left(name, now)
            if of_stage is None:
                return self._by_share(now)
            left += of_stage
        return left if self.planned else self._by_share(now)

    def _stage_left(self, name: str, now: float) -> float | None:
        seen = self.stages.get(name)
        if seen is not None and seen.seconds is not None:
            return 0.0
        steps = int(self.step.get("steps") or 0)
        if seen is not None and steps and len(self._pace) == 2 and name == self._paced:
            (first_at, first), (last_at, last) = self._pace
            return max(0.0, (last_at - first_at) / (last - first) * (steps - last) - (now - last_at))
        if name not in self.before:
            return None
        return max(0.0, self.before[name] - (now - seen.began if seen else 0.0))

    def _by_share(self, now: float) -> float | None:
        if not _TELLING_SHARE <= self.fraction < 1:
            return None
        return (now - self.started - self.held_s) * (1 - self.fraction) / self.fraction

    def _done(self, event: RunEvent, facts: Mapping[str, Any]) -> None:
        seconds = facts.get("seconds")
        took = float(seconds) if isinstance(seconds, int | float) else 0.0
        self.stages.setdefault(event.stage, StageSeen(event.time - took)).seconds = took

    def _took(self, event: RunEvent, facts: Mapping[str, Any]) -> None:
        seen = self.stages.setdefault(event.stage, StageSeen(event.time))
        seen.seconds, seen.paused = float(facts["seconds"]), float(facts["paused"])
        seen.drawn = drawn_of(facts.get("energy"))

    def _step(self, event: RunEvent, facts: Mapping[str, Any]) -> None:
        number = int(facts.get("step", len(self.losses) + 1))
        if number == 1:
            # Another training, in the place of the one before.
            self.losses.clear()
            self._pace.clear()
        self.losses.append(float(facts["loss"]))
        self.step = facts
        if event.stage != self._paced:
            self._paced = event.stage
            self._pace.clear()
        if not self._pace:
            self._pace.append((event.time, number))
        elif number > self._pace[0][1]:
            self._pace[1:] = [(event.time, number)]

    def _go_on(self, now: float) -> None:
        if self.paused_at is not None:
            held, self.paused_at = now - self.paused_at, None
            self.held_s += held
            self._pace.clear()
            for seen in self.stages.values():
                if seen.seconds is None:
                    seen.began += held
