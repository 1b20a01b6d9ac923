"""Training: start it, watch it, read its verdict; it goes on when nobody looks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button, Static

from app.checks import LESSON_DROPPED, left_out
from app.curve import curve
from app.errors_text import explain
from app.interface.learning.checks import checks_text
from app.interface.learning.messages import Said
from app.interface.times import day_and_time
from app.terminal_text import clean
from app.training import failure_of, start_training
from app.trial_log import TrialLog, trying
from configs.errors import EnlaceError
from memory.runlog import RunEvent, read
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from memory.runs import Run

_BAR_CELLS: Final = 40
_CURVE_ROWS: Final = 6
_CURVE_CELLS: Final = 60
_AXIS_CELLS: Final = 8


@dataclass
class Watched:
    """What is known of a run from its events so far."""

    run_id: str
    offset: int = 0
    stage: str = ""
    fraction: float = 0.0
    losses: list[float] = field(default_factory=list)
    step: Mapping[str, Any] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, Any] = field(default_factory=dict)
    promoted: str = ""
    blamed: str = ""
    trying: Mapping[str, Any] = field(default_factory=dict)
    dropped: list[Mapping[str, Any]] = field(default_factory=list)

    def take(self, event: RunEvent) -> None:
        """Add one event."""
        facts = event.facts or {}
        self.stage = event.stage or self.stage
        self.fraction = self.fraction if event.fraction is None else event.fraction
        match event.kind:
            case "run_started":
                self.blamed = str(facts.get("blamed", ""))
            case "choice_started":
                self.trying = facts
            case "choice_done":
                self.trying = {}
            case "step" if "loss" in facts:
                if facts.get("step") == 1:
                    # Another training, in the place of the one before.
                    self.losses.clear()
                self.losses.append(float(facts["loss"]))
                self.step = facts
            case "measure" if facts.get("name") == LESSON_DROPPED:
                self.dropped.append(facts)
            case "verdict":
                self.verdict = facts
            case "promoted":
                self.promoted = str(facts.get("snapshot", ""))
            case "run_failed":
                self.failure = facts
            case "run_done":
                self.fraction = 1.0


class TrainingPane(VerticalScroll):
    """The running training, or the last one, and those before it."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "train", show=False)]

    def compose(self) -> ComposeResult:
        text = self.app.catalogue.text
        yield Button(text("screen.learning.training.start"), id="train", compact=True)
        yield Static(id="run-state", markup=False)
        yield Static(id="run-loss", markup=False)
        yield Static(id="run-left-out", markup=False)
        yield Static(id="run-verdict", markup=False)
        yield Static(id="run-history", markup=False)

    def on_mount(self) -> None:
        self._watched: Watched | None = None
        self._trial: TrialLog | None = None
        self.set_interval(self.app.settings.training_seconds, self.look)
        self.look()

    @on(Button.Pressed, "#train")
    def action_train(self) -> None:
        self.query_one("#run-state", Static).update(self.app.catalogue.text("screen.learning.training.starting"))
        self._start()

    @work(exclusive=True, group="train")
    async def _start(self) -> None:
        try:
            await asyncio.to_thread(start_training, self.app.session)
        except EnlaceError as error:
            self.post_message(Said(error=error))
        if self.query("#run-state"):
            # Whoever left the screen meanwhile has taken its widgets along.
            self.look()

    def look(self) -> None:
        """Read what is new of the latest run, and draw it."""
        runs = self.app.session.household.runs
        latest = runs.latest(self.app.session.member.id)
        if latest is not None:
            folder = run_folder(self.app.session.home, latest)
            if self._watched is None or self._trial is None or self._watched.run_id != latest.id:
                self._watched, self._trial = Watched(latest.id), TrialLog(folder)
            events, self._watched.offset = read(folder, self._watched.offset)
            for event in events:
                self._watched.take(event)
                self._trial.take(event)
            for event in self._trial.look():
                self._watched.take(event)
        self._draw(latest)

    def _draw(self, run: Run | None) -> None:
        watched = self._watched
        running = run is not None and run.state == "running"
        self.query_one("#train", Button).disabled = running
        self.query_one("#run-state", Static).update(self._state(run, watched))
        self._show("#run-loss", self._loss(watched) if watched and watched.losses else None)
        self._show("#run-left-out", self._left_out(watched) if watched and watched.dropped else None)
        self._show("#run-verdict", self._verdict(watched.verdict) if watched and watched.verdict else None)
        self.query_one("#run-history", Static).update(self._history())

    def _show(self, where: str, text: Text | None) -> None:
        """Fill a part, or take it away."""
        part = self.query_one(where, Static)
        part.display = text is not None
        if text is not None:
            part.update(text)

    def _state(self, run: Run | None, watched: Watched | None) -> Text:
        text = self.app.catalogue.text
        if run is not None and watched is not None and run.state == "running":
            done = round(watched.fraction * _BAR_CELLS)
            bar = "▓" * done + "░" * (_BAR_CELLS - done)
            stage = text("screen.learning.training.running", stage=self._stage(watched.stage))
            if watched.blamed:
                stage = text("screen.learning.training.blaming", run=watched.blamed)
            if watched.trying:
                stage = trying(self.app.catalogue, watched.trying)
            return Text.assemble(
                (stage, "bold"), f"\n{bar} {watched.fraction:4.0%}\n", (text("screen.learning.training.runs_on"), "dim")
            )
        household = self.app.session.household
        lessons = self.app.catalogue.count("screen.lessons", len(household.lessons_for_training()))
        waiting = len(household.lessons_waiting())
        state = Text(text("screen.learning.training.idle", lessons=lessons, waiting=waiting))
        if watched is not None and watched.failure:
            state.append(f"\n⚠ {self._failure(watched.failure)}", "bold")
        if watched is not None and watched.promoted:
            state.append("\n" + text("screen.learning.training.promoted", snapshot=clean(watched.promoted)))
        return state

    def _failure(self, failure: Mapping[str, Any]) -> str:
        return str(explain(failure_of(self.app.session.home, failure), self.app.catalogue))

    def _stage(self, name: str) -> str:
        key = f"command.train.stages.{name}"
        return self.app.catalogue.text(key) if self.app.catalogue.has(key) else clean(name)

    def _loss(self, watched: Watched) -> Text:
        text = self.app.catalogue.text
        losses = watched.losses
        step = watched.step
        last = text(
            "screen.learning.training.step",
            step=step.get("step", len(losses)),
            steps=step.get("steps", "?"),
            loss=f"{losses[-1]:.3f}",
        )
        shown = Text.assemble((text("screen.learning.training.loss"), "bold"), f"  {last}\n")
        width = max(10, min(_CURVE_CELLS, self.size.width - _AXIS_CELLS - 4))
        accent = self.app.theme_variables["accent"]
        rows = curve(losses, width, _CURVE_ROWS)
        for number, row in enumerate(rows):
            axis = {0: f"{max(losses):.2f}", len(rows) - 1: f"{min(losses):.2f}"}.get(number, "")
            shown.append(f"{axis:>{_AXIS_CELLS - 2}} ┤", "dim")
            shown.append(row + "\n", accent)
        return shown

    def _left_out(self, watched: Watched) -> Text:
        return Text("\n".join(left_out(self.app.catalogue, facts) for facts in watched.dropped), "dim")

    def _verdict(self, verdict: Mapping[str, Any]) -> Text:
        heading = self.app.catalogue.text("screen.learning.training.verdict")
        return Text.assemble((heading + "\n", "bold"), checks_text(verdict, self.app.catalogue, self.size.width))

    def _history(self) -> Text:
        text = self.app.catalogue.text
        history = Text(text("screen.learning.training.history") + "\n", "bold")
        runs = self.app.session.household.runs.list(self.app.session.member.id)
        if not runs:
            history.append(text("screen.learning.training.no_history"), "dim not bold")
        for run in runs:
            when = day_and_time(run.started_at)
            state = text(f"screen.learning.states.{run.state}")
            history.append(f"{run.id}  {when}  {state:<12}{run.snapshot or ''}\n", "not bold")
        return history
