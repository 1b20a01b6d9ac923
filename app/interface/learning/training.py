"""Training: start it, watch it, read its verdict; it goes on when nobody looks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Static

from app.checks import left_out
from app.curve import curve
from app.errors_text import explain
from app.interface.learning.checks import checks_text
from app.interface.said import Said
from app.interface.times import day_and_time
from app.night import night_state, reason_text
from app.report.cost import energy_short
from app.report.reading import read_story
from app.report.wording import about, took
from app.run_log import RunLog, trying
from app.standing import adults_alone
from app.terminal_text import clean
from app.training import failure_of, start_training
from app.watched import StageSeen, Watched
from configs.errors import EnlaceError
from memory.pausing import Pause, pause, paused, resume
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from memory.runs import Run

_BAR_CELLS: Final = 40
_CURVE_ROWS: Final = 6
_CURVE_CELLS: Final = 60
_AXIS_CELLS: Final = 8
_STAGE_CELLS: Final = 34
_CORPUS_CELLS: Final = 20


class TrainingPane(VerticalScroll):
    """The running training, or the last one, and those before it."""

    app: EnlaceApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "train", show=False),
        Binding("p", "pause", show=False),
    ]

    def compose(self) -> ComposeResult:
        text = self.app.catalogue.text
        with Horizontal(id="run-buttons"):
            yield Button(text("screen.learning.training.start"), id="train", compact=True)
            yield Button(text("screen.learning.training.pause"), id="pause", compact=True)
        yield Static(id="run-state", markup=False)
        yield Static(id="run-loss", markup=False)
        yield Static(id="run-left-out", markup=False)
        yield Static(id="run-verdict", markup=False)
        yield Static(id="run-history", markup=False)

    def on_mount(self) -> None:
        self._watched: Watched | None = None
        self._log: RunLog | None = None
        self._reasons: list[str] | None = None
        self._stood: tuple[str, str] | None = None
        self._asked_at: float | None = None
        self.set_interval(self.app.settings.training_seconds, self.look)
        # The reasons change with the hours and with who is answered, which nothing else tells.
        self.set_interval(self.app.session.settings.training.night.look_seconds, self._ask_why_not)
        self.look()

    def on_show(self) -> None:
        self._ask_why_not()

    @work(exclusive=True, group="why-not")
    async def _ask_why_not(self) -> None:
        """Find out what keeps a training from beginning by itself, which takes a process of the trainer a moment."""
        session = self.app.session
        if not self.is_on_screen:
            return
        try:
            night = await asyncio.to_thread(night_state, session)
        except EnlaceError:
            # It is said where somebody asks for it, by `enlace train status`.
            return
        self._reasons = [reason_text(self.app.catalogue, reason) for reason in night["reasons"]]
        if self.query("#run-state"):
            self.look()

    @on(Button.Pressed, "#pause")
    def action_pause(self) -> None:
        """Hold the training where it is, or let it go on."""
        home, text = self.app.session.household.home, self.app.catalogue.text
        try:
            adults_alone(self.app.session)
            if resume(home):
                sentence = text("screen.learning.training.goes_on")
            else:
                pause(home, self.app.session.member.name, self.app.clock)
                sentence = text("screen.learning.training.now_paused")
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        self.post_message(Said(sentence))
        self.look()
        self._ask_why_not()

    @on(Button.Pressed, "#train")
    def action_train(self) -> None:
        """Start a training, once it is asked for a second time while the first is still told of."""
        now, before = self.app.clock(), self._asked_at
        if before is None or not 0 <= now - before <= self.app.settings.undo_seconds:
            self._asked_at = now
            self.post_message(Said(self.app.catalogue.text("screen.learning.training.sure")))
            return
        self._asked_at = None
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
            if self._watched is None or self._log is None or self._watched.run_id != latest.id:
                self._watched = Watched(latest.id, latest.started_at, self._took_before(latest))
                self._log = RunLog(run_folder(self.app.session.home, latest))
            for event in self._log.look():
                self._watched.take(event)
        stands = (latest.id, latest.state) if latest is not None else ("", "")
        if self._stood not in (None, stands):
            # What kept one from beginning was found out before this one began or ended.
            self._reasons = None
            self._ask_why_not()
        self._stood = stands
        self._draw(latest)

    def _took_before(self, run: Run) -> dict[str, float]:
        """The seconds of each stage of the run before of the same kind."""
        before = self.app.session.household.runs.before(run)
        if before is None:
            return {}
        stages = read_story(run_folder(self.app.session.home, before), before).stages
        return {stage.name: stage.seconds for stage in stages if stage.seconds is not None}

    def _draw(self, run: Run | None) -> None:
        watched = self._watched
        running = run is not None and run.state == "running"
        held = paused(self.app.session.home)
        start, hold = self.query_one("#train", Button), self.query_one("#pause", Button)
        if start.has_focus and (running or held is not None):
            # What is disabled hears no keys, and neither would this pane.
            hold.focus()
        start.disabled = running or held is not None
        key = "resume" if held is not None else "pause"
        hold.label = self.app.catalogue.text(f"screen.learning.training.{key}")
        self.query_one("#run-state", Static).update(self._state(run, watched))
        self._show("#run-loss", self._loss(watched) if watched and watched.losses else None)
        # What a training that failed left out and measured counts no longer; the reason stands above.
        counts = watched if watched is not None and not watched.failure else None
        self._show("#run-left-out", self._left_out(counts) if counts and counts.dropped else None)
        self._show("#run-verdict", self._verdict(counts.verdict) if counts and counts.verdict else None)
        self.query_one("#run-history", Static).update(self._history())

    def _show(self, where: str, text: Text | None) -> None:
        """Fill a part, or take it away."""
        part = self.query_one(where, Static)
        part.display = text is not None
        if text is not None:
            part.update(text)

    def _state(self, run: Run | None, watched: Watched | None) -> Text:
        text = self.app.catalogue.text
        held = paused(self.app.session.home)
        if run is not None and watched is not None and run.state == "running":
            return self._progress(watched, held)
        state = Text()
        if held is not None:
            state.append(text("screen.learning.training.paused", who=clean(held.who)) + "\n", "bold")
        state.append_text(self._thresholds())
        if watched is not None and watched.failure:
            state.append(f"\n⚠ {self._failure(watched.failure)}", "bold")
        if watched is not None and watched.promoted:
            state.append("\n" + text("screen.learning.training.promoted", snapshot=clean(watched.promoted)))
        return state

    def _progress(self, watched: Watched, held: Pause | None) -> Text:
        text = self.app.catalogue.text
        stage = text("screen.learning.training.running")
        if watched.blamed:
            stage = text("screen.learning.training.blaming", run=watched.blamed)
        if watched.trying:
            stage = trying(self.app.catalogue, watched.trying)
        if held is not None:
            stage = text("screen.learning.training.paused", who=clean(held.who))
        done = round(watched.fraction * _BAR_CELLS)
        bar = "▓" * done + "░" * (_BAR_CELLS - done)
        left = watched.seconds_left(self.app.clock())
        ends = "" if left is None else "  " + text("screen.learning.training.left", time=about(left))
        state = Text.assemble((stage, "bold"), f"\n{bar} {watched.fraction:4.0%}{ends}\n")
        for name in dict.fromkeys([*watched.planned, *watched.stages]):
            seen = watched.stages.get(name)
            mark, style = ("○", "dim") if seen is None else ("▸", "bold") if seen.seconds is None else ("✓", "")
            state.append(f"{mark} {self._stage(name):<{_STAGE_CELLS}}{self._cost(seen)}\n", style)
        return state.append(text("screen.learning.training.runs_on"), "dim")

    def _cost(self, seen: StageSeen | None) -> str:
        """What a stage took, where it has come to its end."""
        if seen is None or seen.seconds is None:
            return ""
        if seen.made_by:
            return self.app.catalogue.text("screen.learning.training.made_before", run=clean(seen.made_by))
        parts = [took(self.app.catalogue, seen.seconds, seen.paused)]
        return " · ".join([*parts, energy_short(seen.drawn)] if seen.drawn is not None else parts)

    def _thresholds(self) -> Text:
        """How near the next training is that begins by itself, by both kinds of pairs, and why none does now."""
        text, session = self.app.catalogue.text, self.app.session
        lessons = session.household.lessons_unjudged()
        needed = session.settings.training.night.pairs
        counted = {"pairs": len(lessons), "preference": sum(bool(lesson.rejected) for lesson in lessons)}
        shown = Text(text("screen.learning.training.next") + "\n", "bold")
        for name, number in counted.items():
            full = min(_CORPUS_CELLS, -(-number * _CORPUS_CELLS // needed))
            bar = "▓" * full + "░" * (_CORPUS_CELLS - full)
            label = text(f"screen.learning.training.{name}")
            shown.append(f"{label:<{_STAGE_CELLS}}{bar} {number} / {needed}\n", "not bold")
        known = self.app.catalogue.count("screen.lessons", len(session.household.lessons_for_training()))
        waiting = len(session.household.lessons_waiting())
        shown.append(text("screen.learning.training.idle", lessons=known, waiting=waiting), "dim not bold")
        if self._reasons is not None:
            key = "not_by_itself" if self._reasons else "by_itself"
            shown.append("\n" + text(f"screen.learning.training.{key}"), "not bold")
        for reason in self._reasons or ():
            shown.append(f"\n· {reason}", "not bold")
        return shown

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
        width = max(10, min(_CURVE_CELLS, self.scrollable_content_region.width - _AXIS_CELLS))
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
