"""``enlace train gate``: what the gate said of a training, and the word of somebody that it answers all the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.commands.errors import VerdictUncounted, WhyMissing
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption
from app.commands.output import write, write_json
from app.commands.verdict import write_checks
from app.ended_early import why_early
from app.exit_codes import HELD
from app.standing import admin_alone
from app.training import NoVerdict, ship_held

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run

_RUN: Final = re.compile(r"r\d+")


def gate(
    judged: Annotated[str | None, typer.Argument(metavar="[RUN|MANIFEST]", help="command.train.gate.run")] = None,
    ship: Annotated[bool, typer.Option("--ship", help="command.train.gate.ship")] = False,
    why: Annotated[str, typer.Option("--why", help="command.train.gate.why")] = "",
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """The verdict on a training, the last one by default; with --ship one that was held answers all the same."""
    with open_session(member=member) as session:
        if judged is not None and not _RUN.fullmatch(judged) and not ship:
            return _of_manifest(session, Path(judged), as_json=as_json)
        run = _judged(session, judged)
        if ship:
            run = _overruled(session, run, why.strip())
        verdict = run.summary["gate"]
        if as_json:
            write_json({"run": run.id, "state": run.state, "snapshot": run.snapshot, **verdict})
            return HELD if run.state == "held" else 0
        words = session.catalogue
        write(f"{run.id} · {words.text(f'command.train.states.{run.state}')}")
        write_checks(words, verdict)
        if run.state == "held":
            write(words.text("command.train.gate.held", run=run.id))
        return HELD if run.state == "held" else 0


def _of_manifest(session: Session, file: Path, *, as_json: bool) -> int:
    """What a manifest measured, judged by the bounds that it has; nothing is promoted."""
    from app.plans import verdict_of

    verdict = verdict_of(session, file)
    if as_json:
        write_json(verdict)
    else:
        write_checks(session.catalogue, verdict)
    return 0 if verdict["decision"] == "SHIP" else HELD


def _judged(session: Session, run_id: str | None) -> Run:
    """The run named, or the last one that came to a verdict. Raises RunUnknown, NoVerdict, VerdictUncounted."""
    runs = session.household.runs
    found = [runs.seen(run_id, session.member.id)] if run_id else runs.list(session.member.id)
    run = next((run for run in found if "gate" in run.summary), None)
    if run is not None:
        return run
    ended = why_early(session, found[0]) if run_id and found else None
    if ended is not None:
        raise VerdictUncounted(run=found[0].id, why=str(ended))
    raise NoVerdict


def _overruled(session: Session, run: Run, why: str) -> Run:
    """Raises AdminAlone, WhyMissing, and what the trainer reports."""
    if run.member is None:
        admin_alone(session)
    if not why:
        raise WhyMissing
    ship_held(session, run.id, why)
    return session.household.runs.get(run.id)
