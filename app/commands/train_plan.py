"""``enlace train plan|run|review|reproduce``: a training from one file, before, while and after it is carried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import remark, write, write_json
from app.exit_codes import HELD

ManifestArgument = Annotated[Path, typer.Argument(metavar="MANIFEST", help="command.plan.manifest")]


def register(train: typer.Typer) -> None:
    """Add the commands to the group ``train``."""
    train.command("plan", help="command.plan.help")(plan)
    train.command("run", help="command.plan.run")(run)
    train.command("review", help="command.plan.review")(review)
    train.command("reproduce", help="command.plan.reproduce")(reproduce)


def plan(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="command.plan.file")] = None,
    recipe: Annotated[str | None, typer.Option("--recipe", help="command.train.recipe")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="command.plan.to")] = None,
    as_json: JsonOption = False,
) -> int:
    """What a training would be, what it would take and what speaks against it; nothing is begun."""
    from app.commands.plan_view import write_plan, write_reasons
    from app.plans import plan_of, save_manifest
    from memory.whole_files import refuse_to_replace

    with open_session() as session:
        if to is not None:
            refuse_to_replace(to)
        found = plan_of(session, file, recipe)
        if to is not None:
            save_manifest(found["manifest"], to)
        if as_json:
            write_json(found)
        else:
            write_plan(session.catalogue, found)
            write_reasons(session.catalogue, found)
        if to is not None:
            (remark if as_json else write)(session.catalogue.text("command.plan.written", path=to))
        return 1 if found["reasons"] else 0


def run(file: ManifestArgument, as_json: JsonOption = False) -> int:
    """Carry out a manifest up to the verdict; what was done already is not done again."""
    from app.commands.plan_view import write_done
    from app.commands.training_view import watch
    from app.plans import plan_of
    from app.training import start_manifest

    with open_session() as session:
        found = plan_of(session, file)
        if done := found["done"]:
            if as_json:
                write_json({**done, "nothing_done": True})
            else:
                write_done(session.catalogue, found)
            return HELD if done["state"] == "held" else 0
        return watch(session, start_manifest(session, file).id, as_json=as_json)


def review(file: ManifestArgument, as_json: JsonOption = False) -> int:
    """Every reason for which a manifest must not be run."""
    from app.commands.plan_view import write_reasons
    from app.plans import plan_of

    with open_session() as session:
        found = plan_of(session, file)
        if as_json:
            write_json(found["reasons"])
        else:
            write_reasons(session.catalogue, found)
        return 1 if found["reasons"] else 0


def reproduce(file: ManifestArgument, as_json: JsonOption = False) -> int:
    """Do again what a manifest says, and tell whether the same came of it."""
    from app.commands.reproduction_view import watch_reproduction
    from app.training import start_reproduction

    with open_session() as session:
        session.snapshot()
        return watch_reproduction(session, start_reproduction(session, file), as_json=as_json)
