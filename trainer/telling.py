"""What becomes of a run is told: in its log, on record at its end, and to whoever took lessons back meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from memory import runlog
from memory.household import Household
from memory.runlog import RunEvent
from memory.runs import Run, State
from trainer.costs import Cost
from trainer.errors import NoRoom, RunStopped
from trainer.reporting import leave_report
from trainer.room import room_at

# The kind of an event, how much is done, and the facts.
Tell = Callable[[str, float | None, Mapping[str, Any]], None]


def tell(folder: Path, time: float, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
    """Add an event to a run's log; ``time`` in seconds since 1970. Raises NoRoom."""
    with room_at(folder):
        runlog.append(folder, RunEvent(time, kind, "", fraction, facts))


def tell_line(kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
    """Say on stdout what happens, as one line of JSON; ``fraction``: how much is done, 0 to 1, if known."""
    line = json.dumps({"kind": kind, "fraction": fraction, "facts": dict(facts)}, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tell_starter(error: EnlaceError) -> int:
    """Say on stderr what went wrong, as one line of JSON for the process that started this one; the exit code."""
    sys.stderr.write(json.dumps({"code": error.code, "facts": error.facts}, ensure_ascii=False) + "\n")
    return error.exit_code


def tell_failed(household: Household, run: Run, error: EnlaceError, told: Tell, cost: Cost | None = None) -> None:
    """Put on record that ``error`` ended the run, and what it had taken until then, and say so in its log."""
    state: State = "stopped" if isinstance(error, RunStopped) else "failed"
    facts = {"code": error.code, "facts": error.facts}
    took = {"cost": cost.as_json()} if cost else {}
    # The family's database has no more of a member's own run than its code; the rest is in that member's part.
    household.runs.finish(run.id, state, summary={**facts, **took} if run.member is None else {"code": error.code})
    try:
        if cost:
            told("took", None, cost.as_json())
        told("run_failed", None, facts)
    except NoRoom:
        # The run's end is on record in the database; its log has no room for it.
        return


def leave_reports(home: Home, household: Household, runs: Iterable[str], seconds: float) -> None:
    """Have the reports of ``runs`` (ids), which ended, written anew, each within ``seconds``. Raises RunUnknown."""
    for run in runs:
        leave_report(home, household.runs.get(run), seconds)
