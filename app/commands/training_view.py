"""A training as it goes, on a terminal: one line a stage with its share done and the live loss, then the verdict."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from app.checks import left_out
from app.commands.output import remark, write, write_json, write_raw
from app.commands.train_mine import answers
from app.commands.verdict import write_checks
from app.ended_early import why_early
from app.exit_codes import HELD, INTERRUPTED
from app.run_log import RunLog, trying
from app.terminal_text import clean
from app.watched import Watched
from configs.errors import EnlaceError
from memory.runlog import RunEvent
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run

_BAR: Final = 24
_LAST_KINDS: Final = ("run_done", "run_failed")


class TrainingDetached(EnlaceError):
    """The person looked away; the training goes on. No facts."""

    code = "training_detached"
    exit_code = INTERRUPTED


def watch(session: Session, run_id: str, *, as_json: bool) -> int:
    """Follow a run to its end; the exit code. Raises TrainingDetached on Ctrl-C."""
    run = session.household.runs.get(run_id)
    view = View(session, run, quiet=as_json)
    log = RunLog(run_folder(session.home, run))
    try:
        while True:
            # Asked before reading: what a run wrote before it ended is then always seen.
            ended = session.household.runs.get(run_id).state != "running"
            for event in log.look():
                view.draw(event)
            if ended or (view.last and view.last.kind in _LAST_KINDS):
                break
            time.sleep(session.settings.interface.training_seconds)
    except KeyboardInterrupt as interrupted:
        view.end_line()
        raise TrainingDetached from interrupted
    return _conclude(session, run_id, view, as_json=as_json)


def show_status(session: Session, run: Run, *, as_json: bool, also: Mapping[str, Any] | None = None) -> int:
    """Where a run stands now, from what it has written; ``also`` goes into the JSON."""
    view = View(session, run, quiet=True)
    for event in RunLog(run_folder(session.home, run)).look():
        view.draw(event)
    state = view.state
    if as_json:
        write_json(
            {
                **asdict(run),
                "stage": state.stage,
                "fraction": state.fraction,
                "loss": state.loss,
                "verdict": state.verdict,
                "failure": dict(state.failure),
                "dropped": view.told_dropped(),
                **(also or {}),
            }
        )
        return 0
    words = session.catalogue
    write(f"{run.id} · {words.text(f'command.train.states.{run.state}')}")
    if run.state == "running":
        write(view.line())
    if run.state in ("failed", "stopped"):
        write(_why_early(session, run))
        # Beside its reason, what it left out would read as the reason; where it told none, that is all there is.
        if not state.failure:
            view.write_dropped()
        return 0
    view.write_dropped()
    if state.verdict:
        write_checks(words, state.verdict)
    return 0


def _why_early(session: Session, run: Run) -> str:
    told = why_early(session, run)
    return str(told or session.catalogue.text("command.train.ended_early", run=run.id, log=session.home.trainer_log))


class View:
    """What is known of a run (``state``), and the line that says so."""

    def __init__(self, session: Session, run: Run, *, quiet: bool) -> None:
        self._words = session.catalogue
        self._quiet = quiet
        self._live = sys.stdout.isatty() and not quiet
        self._open = False
        self.state = Watched(run.id, run.started_at)
        self.last: RunEvent | None = None

    def draw(self, event: RunEvent) -> None:
        facts = dict(event.facts or {})
        self.last = event
        if event.stage and event.stage != self.state.stage:
            self.end_line()
        self.state.take(event)
        match event.kind:
            case "taken_up" if not self._quiet:
                self.end_line()
                write(self._words.text("command.train.taken_up", run=facts["run"]))
            case "going_on" if not self._quiet:
                self.end_line()
                write(self._words.text("command.train.going_on", **facts))
            case "stage_skipped" if not self._quiet:
                self.end_line()
                stage = facts["stage"]
                write(self._words.text("command.plan.skipped", stage=self._name_of(stage), run=facts["run"]))
            case "choice_started" if not self._quiet:
                self.end_line()
                write(trying(self._words, facts))
        if self._live:
            write_raw(f"\r\x1b[2K{clean(self.line())}")
            self._open = True
        elif event.kind == "stage_started" and not self._quiet:
            write(self._stage_name())
        elif event.kind == "stage_done" and not self._quiet and self.state.loss is not None:
            write(self.line())

    def line(self) -> str:
        done, loss_now = round(self.state.fraction * _BAR), self.state.loss
        bar = "▓" * done + "░" * (_BAR - done)
        loss = "" if loss_now is None else f"  {self._words.text('command.train.loss')} {loss_now:.3f}"
        return f"{bar} {self.state.fraction:4.0%}  {self._stage_name()}{loss}"

    def told_dropped(self) -> list[dict[str, Any]]:
        """The lessons that were left out: id, reason, question, and by which later one."""
        return [{key: value for key, value in facts.items() if key != "name"} for facts in self.state.dropped]

    def write_dropped(self) -> None:
        for facts in self.state.dropped:
            write(left_out(self._words, facts))

    def end_line(self) -> None:
        if self._open:
            write_raw("\n")
            self._open = False

    def _stage_name(self) -> str:
        return self._name_of(self.state.stage)

    def _name_of(self, stage: str) -> str:
        key = f"command.train.stages.{stage}"
        return self._words.text(key) if self._words.has(key) else stage


def _conclude(session: Session, run_id: str, view: View, *, as_json: bool) -> int:
    view.end_line()
    state = view.state
    run = session.household.runs.get(run_id)
    failed = run.state in ("failed", "stopped")
    if as_json:
        told = {"verdict": state.verdict, "failure": dict(state.failure), "dropped": view.told_dropped()}
        write_json({**asdict(run), **told})
    else:
        view.write_dropped()
        if state.verdict and not failed:
            write_checks(session.catalogue, state.verdict)
    if failed:
        remark(_why_early(session, run))
    elif not as_json:
        outcome = f"command.train.outcome_{run.state}"
        if run.state == "shipped" and run.member is not None:
            # They may have switched it off meanwhile, or the family may be served something else.
            outcome = "command.train.mine.shipped" if answers(session, run.member) else "command.train.mine.kept"
        write(session.catalogue.text(outcome, run=run_id, snapshot=run.snapshot or "—"))
    if failed:
        return 1
    return HELD if run.state == "held" or state.verdict.get("decision") == "HOLD" else 0
