"""``enlace train``: starts a training, watches it, stops it; the trainer is a process of its own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import asdict
from typing import Annotated

import typer

from app.commands import own_model, train_plan
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, group, moment
from app.commands.output import write, write_json, write_table
from app.commands.train_gate import gate
from app.commands.train_mine import mine
from app.commands.train_report import report
from app.standing import adults_alone
from app.training import NoRun, start_blame, start_training


def register(commands: typer.Typer) -> None:
    """Add the group ``train``."""
    train = group("train")
    train.command("now", help="command.train.now")(now)
    train.command("status", help="command.train.status")(status)
    train.command("stop", help="command.train.stop")(stop)
    train.command("pause", help="command.train.pausing.pause")(pause)
    train.command("resume", help="command.train.pausing.resume")(resume)
    train.command("blame", help="command.train.blame")(blame)
    train.command("gate", help="command.train.gate.help")(gate)
    train.command("report", help="command.train.report")(report)
    train.command("mine", help="command.train.mine.help")(mine)
    train.command("history", help="command.train.history")(history)
    train_plan.register(train)
    own_model.register(train)
    commands.add_typer(train)


def now(
    recipe: Annotated[str | None, typer.Option("--recipe", help="command.train.recipe")] = None,
    of_mine: Annotated[bool, typer.Option("--mine", help="command.train.mine.now")] = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Train on the shared lessons, or on the member's own, and show how it goes, up to the verdict."""
    from app.commands.training_view import watch

    with open_session(member=member) as session:
        run = start_training(session, recipe, mine=of_mine)
        return watch(session, run.id, as_json=as_json)


def blame(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="command.train.held")], as_json: JsonOption = False
) -> int:
    """Find the lessons without which a training that was held would have passed; nothing is promoted."""
    from app.commands.blame_view import watch_blame

    with open_session() as session:
        return watch_blame(session, start_blame(session, run_id), as_json=as_json)


def status(
    follow: Annotated[bool, typer.Option("--follow", help="command.train.follow")] = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """How the training that runs, or ran last, is doing, and why none begins by itself now."""
    from app.commands.blame_view import show_blame, watch_blame
    from app.commands.night_view import as_json as night_json
    from app.commands.night_view import write_night
    from app.commands.reproduction_view import watch_reproduction
    from app.commands.training_view import show_status, watch
    from app.night import night_state
    from memory.runs import BLAME, REPRODUCE

    with open_session(member=member) as session:
        run = session.household.runs.latest(session.member.id)
        if follow and run is not None and run.state == "running":
            if run.kind == BLAME:
                return watch_blame(session, run, as_json=as_json)
            if run.kind == REPRODUCE:
                return watch_reproduction(session, run, as_json=as_json)
            return watch(session, run.id, as_json=as_json)
        night = night_state(session)
        also = night_json(session, night) if as_json else None
        code = 0
        if run is not None:
            code = (show_blame if run.kind == BLAME else show_status)(session, run, as_json=as_json, also=also)
        elif as_json:
            write_json({"id": None, "state": None, "fraction": 0.0, **(also or {})})
        else:
            write(session.catalogue.text("command.train.none"))
        if not as_json:
            write_night(session, night)
        return code


def stop() -> int:
    """Ask the running training to end; what it has measured so far is kept."""
    with open_session() as session:
        runs = session.household.runs
        run = runs.running()
        pid = runs.pid(run.id) if run else None
        if run is None or pid is None:
            raise NoRun
        if run.member != session.member.id:
            adults_alone(session)
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError as error:
            # It came to its end just now.
            raise NoRun from error
        whose = "command.train.stopping" if run.is_for(session.member.id) else "command.train.mine.stopping"
        write(session.catalogue.text(whose, run=run.id))
        return 0


def pause(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """Hold the training that runs where it is, and have none begin, until ``enlace train resume``."""
    from memory.pausing import pause as begin_pause

    with open_session(member=member) as session:
        adults_alone(session)
        wish = begin_pause(session.household.home, session.member.name, time.time)
        if as_json:
            write_json({"paused": True, **asdict(wish)})
        else:
            runs = session.household.runs.running() is not None
            write(session.catalogue.text(f"command.train.pausing.{'held' if runs else 'none_begins'}"))
        return 0


def resume(as_json: JsonOption = False) -> int:
    """Let the training go on that was held, and others begin."""
    from memory.pausing import resume as end_pause

    with open_session() as session:
        adults_alone(session)
        lasted = end_pause(session.household.home)
        if as_json:
            write_json({"paused": False, "was_paused": lasted})
        else:
            write(session.catalogue.text(f"command.train.pausing.{'goes_on' if lasted else 'was_not'}"))
        return 0


def history(
    run_id: Annotated[str | None, typer.Argument(metavar="[RUN]", help="command.train.of_history")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """The trainings there were, the newest first, the family's and the member's own; and the card of one of them."""
    from app.commands.card_view import write_card
    from app.ended_early import why_early
    from app.report.card import card_of, has_card, latest_judged
    from app.report.wording import cost_cells

    with open_session(member=member) as session:
        words, all_runs = session.catalogue, session.household.runs
        runs = [all_runs.seen(run_id, session.member.id)] if run_id else all_runs.list(session.member.id)
        if as_json:
            cards = {run.id: card_of(session, run).as_json() for run in runs if has_card(run)}
            write_json([{**asdict(run), "card": cards.get(run.id)} for run in runs])
            return 0
        if not runs:
            write(words.text("command.train.none"))
            return 0
        why = {run.id: ended for run in runs if (ended := why_early(session, run))}
        names = ("run", "state", "started", "took", "energy", "snapshot", *(["why"] if why else []))
        heads = [words.text(f"command.train.heads.{name}") for name in names]
        rows = [
            (
                run.id,
                words.text(f"command.train.states.{run.state}"),
                moment(run.started_at),
                *cost_cells(words, run),
                run.snapshot or "—",
                *([why[run.id].what if run.id in why else ""] if why else []),
            )
            for run in runs
        ]
        write_table(heads, rows)
        if run_id and runs[0].id in why:
            write(f"\n{why[runs[0].id]}")
        told = runs[0] if run_id else latest_judged(session)
        if told is not None and has_card(told):
            write("")
            write_card(session, card_of(session, told))
        return 0
