"""A training that is done again: how it goes, and whether the same came of it or where it first differs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.checks import check_name
from app.commands.output import remark, write, write_json, write_table
from app.commands.training_view import TrainingDetached, View
from app.errors_text import explain
from app.run_log import RunLog
from app.training import failure_of

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run


def watch_reproduction(session: Session, run: Run, *, as_json: bool) -> int:
    """Follow it to its end; 0 where it is reproduced, else 1. Raises TrainingDetached on Ctrl-C."""
    view = View(session, run, quiet=as_json)
    log, told = RunLog(session.home.runs / run.id), dict[str, Any]()
    try:
        while True:
            # Asked before reading: what it wrote before it ended is then always seen.
            ended = session.household.runs.get(run.id).state != "running"
            for event in log.look():
                view.draw(event)
                told = dict(event.facts or {}) if event.kind == "run_done" else told
            if ended:
                break
            time.sleep(session.settings.interface.training_seconds)
    except KeyboardInterrupt as interrupted:
        view.end_line()
        raise TrainingDetached from interrupted
    view.end_line()
    if not told:
        return _failed(session, run, view)
    if as_json:
        write_json({"run": run.id, **told})
    else:
        _show(session, told)
    return 0 if told["reproduced"] else 1


def _failed(session: Session, run: Run, view: View) -> int:
    words = session.catalogue
    if view.state.failure:
        remark(str(explain(failure_of(session.home, view.state.failure), words)))
    else:
        remark(words.text("command.train.ended_early", run=run.id, log=session.home.trainer_log))
    return 1


def _show(session: Session, told: Mapping[str, Any]) -> None:
    words = session.catalogue
    heads = [words.text(f"command.plan.heads.{name}") for name in ("measure", "expected", "found")]
    rows = [
        (check_name(words, name), _number(expected), _number(found))
        for name, (expected, found) in told["measures"].items()
    ]
    write_table(heads, rows)
    unlike = [name for name, same in told["stages"].items() if not same]
    if told["otherwise"]:
        write(words.text("command.plan.otherwise", what=", ".join(told["otherwise"])))
    if unlike:
        write(words.text("command.plan.other_bits", stages=", ".join(unlike)))
    if told["reproduced"]:
        write(words.text("command.plan.reproduced"))
    else:
        write(words.text("command.plan.differs", first=check_name(words, str(told["first"]))))


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.4g}"
