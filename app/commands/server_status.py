"""What ``enlace engine status`` says of another server: what is known, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.output import write

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from engine.interface import ServerStatus


def write_server(texts: Catalogue, found: ServerStatus) -> None:
    """Which server answers, whether it can be reached, and what it serves."""
    write(texts.text("command.engine.server.which", kind=found.kind, url=found.url))
    if not found.reachable:
        from app.errors_text import explain
        from configs.errors import Reported

        write(str(explain(Reported(found.problem or "server_error", found.facts), texts)))
        return
    if found.version:
        write(texts.text("command.engine.server.version", version=found.version))
    if found.model:
        write(texts.text("command.engine.server.model", model=found.model))
    elif found.models:
        write(texts.text("command.engine.server.models", models=", ".join(found.models)))
    key = f"command.engine.server.base.{found.base or 'unknown'}"
    write(texts.text(key))
    key = "command.engine.server.snapshot" if found.snapshot else "command.engine.server.no_snapshot"
    write(texts.text(key, snapshot=found.snapshot or ""))
    if found.context_size:
        write(texts.text("command.engine.server.context", context_size=found.context_size))
    if found.slots is not None and found.busy is not None:
        write(texts.text("command.engine.server.slots", slots=found.slots, busy=found.busy))
