"""``enlace models``: the base models at hand, how to get more, and which one answers."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.models_bench import bench
from app.commands.models_list import list_models
from app.commands.models_pull import bring, pull
from app.commands.opening import open_session
from app.commands.options import group
from app.commands.output import write


def register(commands: typer.Typer) -> None:
    """Add the group ``models``."""
    models = group("models")
    models.command("list", help="command.models.list")(list_models)
    models.command("pull", help="command.models.pull")(pull)
    models.command("import", help="command.models.import")(bring)
    models.command("bench", help="command.forms.bench")(bench)
    models.command("use", help="command.models.use")(use)
    commands.add_typer(models)


def use(name: Annotated[str, typer.Argument(help="command.models.name")]) -> int:
    """Let the base model ``name`` answer from now on, without what was trained on another."""
    from app.commands.waiting import wait_for
    from app.using_models import base_of, serve_base

    with open_session() as session:
        # Of a new home the first snapshot is made by asking for it.
        current, base = session.snapshot(), base_of(session, name)
        if base.id == current.id:
            write(session.catalogue.text("command.models.answers_already", name=name, snapshot=base.id))
            return 0
        look_s = session.settings.interface.status_seconds
        now = wait_for(serve_base(session, base), session.engine, session.catalogue, look_s)
        write(session.catalogue.text("command.models.now", name=name, snapshot=now.id))
        return 0
