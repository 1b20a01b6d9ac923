"""``enlace models``: the base models at hand, and which one answers."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, group, yes_no
from app.commands.output import write, write_json, write_table


def register(commands: typer.Typer) -> None:
    """Add the group ``models``."""
    models = group("models")
    models.command("list", help="command.models.list")(list_models)
    models.command("use", help="command.models.use")(use)
    commands.add_typer(models)


def list_models(as_json: JsonOption = False) -> int:
    """The models in the household's folder and the starter."""
    from engine import catalogue as models
    from memory.errors import NoSnapshot

    with open_session() as session:
        try:
            used = session.household.snapshots.current().base_name
        except NoSnapshot:
            used = session.settings.engine.model
        found = models.list_models(session.home)
        if as_json:
            write_json(
                [
                    {"name": model.name, "path": str(model.path), "bytes": model.size, "in_use": model.name == used}
                    for model in found
                ]
            )
            return 0
        words = session.catalogue
        heads = [words.text(f"command.models.heads.{head}") for head in ("name", "size", "used", "path")]
        write_table(
            heads,
            [
                (model.name, f"{model.size / 1e6:.0f} MB", yes_no(words, model.name == used), model.path)
                for model in found
            ],
        )
        return 0


def use(name: Annotated[str, typer.Argument(help="command.models.name")]) -> int:
    """Let the base model ``name`` answer from now on, without what was trained on another."""
    import asyncio

    from engine.catalogue import model_path
    from engine.gguf import check_gguf

    with open_session() as session:
        path = model_path(session.home, name)
        check_gguf(path)
        session.snapshot()
        snapshots = session.household.snapshots
        digest = snapshots.file_digest(path)
        base = next((s for s in snapshots.list() if s.base_sha256 == digest and not s.adapters), None)
        if base is None:
            base = snapshots.create(
                name, digest, adapters=(), parent=None, run=None, reason=f"models use {name}", gate=None
            )
        chosen, who = base, session.member.name
        promotion = session.engine.adopt(chosen.digest, lambda: snapshots.promote(chosen.id, who, f"models use {name}"))
        write(session.catalogue.text("command.models.now", name=name, snapshot=asyncio.run(promotion).id))
        return 0
