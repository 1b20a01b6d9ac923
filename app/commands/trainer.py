"""``enlace trainer``: the process that begins trainings by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from app.commands.opening import open_session
from app.commands.options import group
from app.commands.output import remark, write

if TYPE_CHECKING:
    from app.session import Session


def register(commands: typer.Typer) -> None:
    """Add the group ``trainer``."""
    trainer = group("trainer")
    trainer.command("run", help="command.trainer.run")(run)
    commands.add_typer(trainer)


def run() -> int:
    """Begin trainings by themselves, here, until Ctrl-C."""
    from app.night import run_nights

    with open_session() as session:
        night = session.settings.training.night
        write(session.catalogue.text("command.trainer.running_here", begin=night.quiet_from, end=night.quiet_to))
        run_nights(session, lambda event: _tell(session, event))
        write(session.catalogue.text("command.trainer.ended_here"))
        return 0


def _tell(session: Session, event: Mapping[str, Any]) -> None:
    """What the process that begins trainings tells, in words."""
    from app.errors_text import explain
    from app.night import reason_text
    from app.training import failure_of

    words, kind = session.catalogue, event["kind"]
    if kind == "failed":
        remark(str(explain(failure_of(session.home, event), words)))
        return
    if kind == "ended":
        state = event["state"]
        facts = {"run": event["run"], "snapshot": event["snapshot"]}
        write(words.text(f"command.trainer.ended.{state if state in ('shipped', 'held') else 'without'}", **facts))
        return
    write(words.text(f"command.trainer.{kind}"))
    for reason in event.get("reasons", ()):
        write(f"· {reason_text(words, reason)}")
