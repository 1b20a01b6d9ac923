"""``enlace train preflight|pretrain``: a model of one's own, tried and trained."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import write, write_json

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="command.own.run")]
ChangesArgument = Annotated[list[str] | None, typer.Argument(metavar="KEY.PATH=VALUE", help="command.own.changes")]


def register(train: typer.Typer) -> None:
    """Add the commands to the group ``train``."""
    train.command("preflight", help="command.own.preflight")(preflight)
    train.command("pretrain", help="command.own.pretrain")(pretrain)


def preflight(run: RunArgument, changes: ChangesArgument = None, as_json: JsonOption = False) -> int:
    """Try a few steps of a run on made-up text, and say what the whole of it would take."""
    from app.commands.own_model_view import write_report, write_trial
    from app.own_model import Making

    with open_session() as session:
        making, report = Making(session.home, "trainer.pretraining.preflight", [run, *(changes or [])]), None
        for told in making.events():
            if told.kind == "preflight":
                report = told.facts
            elif told.kind == "trial" and not as_json:
                write_trial(session.catalogue, told.facts)
        if report is not None and as_json:
            write_json(report)
        elif report is not None:
            write_report(session.catalogue, report)
        return making.exit_code


def pretrain(run: RunArgument, changes: ChangesArgument = None, as_json: JsonOption = False) -> int:
    """Train a run to its end, or go on with it; Ctrl-C ends the step and keeps it."""
    from app.commands.own_model_view import PretrainingView
    from app.own_model import Making

    with open_session() as session:
        making, view = (
            Making(session.home, "trainer.pretraining", [run, *(changes or [])]),
            PretrainingView(session.catalogue),
        )
        for told in making.events():
            if as_json:
                # A line for each event, as it comes: a run takes hours.
                write(json.dumps({"kind": told.kind, "fraction": told.fraction, "facts": dict(told.facts)}))
            else:
                view.draw(told)
        if not as_json:
            view.end()
        return making.exit_code
