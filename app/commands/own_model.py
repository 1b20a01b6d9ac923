"""``enlace train corpus|tokenizer|preflight|pretrain``: a model of one's own, from its text to its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import write_json

if TYPE_CHECKING:
    from app.session import Session

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="command.own.run")]
ChangesArgument = Annotated[list[str] | None, typer.Argument(metavar="KEY.PATH=VALUE", help="command.own.changes")]
ProcessesOption = Annotated[int | None, typer.Option("--processes", min=1, help="command.own.processes")]


def register(train: typer.Typer) -> None:
    """Add the commands to the group ``train``."""
    train.command("corpus", help="command.own.corpus")(corpus)
    train.command("tokenizer", help="command.own.tokenizer")(tokenizer)
    train.command("preflight", help="command.own.preflight")(preflight)
    train.command("pretrain", help="command.own.pretrain")(pretrain)


def corpus(
    run: RunArgument, changes: ChangesArgument = None, processes: ProcessesOption = None, as_json: JsonOption = False
) -> int:
    """Make a run's corpus: its texts, its tokenizer and its shards, of which nothing is made twice."""
    with open_session() as session:
        asked = [run, *(changes or []), *_processes(processes)]
        return _made(session, "trainer.corpus", asked, as_json=as_json)


def tokenizer(
    run: RunArgument,
    changes: ChangesArgument = None,
    against: Annotated[list[str] | None, typer.Option("--against", help="command.own.against")] = None,
    again: Annotated[bool, typer.Option("--again", help="command.own.again")] = False,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
) -> int:
    """Train a run's tokenizer, and say how many tokens it takes for text that it has not seen."""
    with open_session() as session:
        beside = [part for each in against or [] for part in ("--against", each)]
        asked = [run, *(changes or []), *beside, *(["--again"] if again else []), *_processes(processes)]
        return _made(session, "trainer.tokenizer", asked, as_json=as_json)


def preflight(run: RunArgument, changes: ChangesArgument = None, as_json: JsonOption = False) -> int:
    """Try a few steps of a run on made-up text, and say what the whole of it would take."""
    with open_session() as session:
        return _made(session, "trainer.pretraining.preflight", [run, *(changes or [])], as_json=as_json)


def pretrain(run: RunArgument, changes: ChangesArgument = None, as_json: JsonOption = False) -> int:
    """Train a run to its end, or go on with it; Ctrl-C ends the step and keeps it."""
    from app.commands.own_model_view import MakingView, write_event
    from app.own_model import Making

    with open_session() as session:
        making = Making(session.home, "trainer.pretraining", [run, *(changes or [])])
        view = MakingView(session.catalogue)
        for told in making.events():
            if as_json:
                # A line for each event, as it comes: a run takes hours.
                write_event(told)
            else:
                view.draw(told)
        if not as_json:
            view.end()
        return making.exit_code


def _made(session: Session, module: str, asked: list[str], *, as_json: bool) -> int:
    """Have ``module`` do what it does, shown on the way, and its result written at the end; the exit code."""
    from app.commands.own_model_view import RESULTS, MakingView, write_result
    from app.own_model import Making

    making, view, result = Making(session.home, module, asked), MakingView(session.catalogue), None
    for told in making.events():
        if told.kind in RESULTS:
            result = told
        elif not as_json:
            view.draw(told)
    view.end()
    if result is not None and as_json:
        write_json(result.facts)
    elif result is not None:
        write_result(session.catalogue, result)
    return making.exit_code


def _processes(count: int | None) -> list[str]:
    return [] if count is None else ["--processes", str(count)]
