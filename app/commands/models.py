"""``enlace models``: the base models at hand, how to get more, and which one answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.models_bench import bench
from app.commands.models_list import list_models
from app.commands.models_pull import bring, pull
from app.commands.opening import open_session
from app.commands.options import group
from app.commands.output import write
from app.standing import adults_alone

if TYPE_CHECKING:
    from memory.snapshots import Snapshot, Snapshots


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
    from engine.catalogue import model_path
    from engine.gguf import check_gguf

    with open_session() as session:
        adults_alone(session)
        path = model_path(session.home, name)
        check_gguf(path)
        current = session.snapshot()
        snapshots = session.household.snapshots
        digest = snapshots.file_digest(path)
        own = (s.id for s in snapshots.list() if s.base_sha256 == digest and not s.adapters)
        base = next((found for each in own if (found := _whole(snapshots, each))), None)
        if base is None:
            base = snapshots.create(
                name, digest, adapters=(), parent=None, run=None, reason=f"models use {name}", gate=None
            )
        if base.id == current.id:
            write(session.catalogue.text("command.models.answers_already", name=name, snapshot=base.id))
            return 0
        chosen, who = base, session.member.name
        engine, look_s = session.engine, session.settings.interface.status_seconds
        promotion = engine.adopt(chosen.digest, lambda: snapshots.promote(chosen.id, who, f"models use {name}"))
        now = wait_for(promotion, engine, session.catalogue, look_s)
        write(session.catalogue.text("command.models.now", name=name, snapshot=now.id))
        return 0


def _whole(snapshots: Snapshots, snapshot_id: str) -> Snapshot | None:
    """A snapshot that can answer; None where what it is made of is damaged, gone or given up."""
    from memory.errors import ArtifactDamaged, ArtifactMissing, SnapshotPruned

    try:
        return snapshots.whole(snapshot_id)
    except (ArtifactDamaged, ArtifactMissing, SnapshotPruned):
        return None
