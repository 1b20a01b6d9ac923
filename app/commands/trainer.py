"""``enlace trainer``: the process that begins trainings by itself, and the timer that does so without a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, group
from app.commands.output import remark, write, write_json

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session
    from app.user_timer import TimerState


def register(commands: typer.Typer) -> None:
    """Add the group ``trainer``."""
    trainer = group("trainer")
    trainer.command("run", help="command.trainer.run")(run)
    trainer.command("schedule", help="command.trainer.schedule")(schedule)
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


def schedule(
    wanted: Annotated[Literal["install", "remove", "status"], typer.Argument(help="command.trainer.wanted")] = "status",
    as_json: JsonOption = False,
) -> int:
    """Have the system look by itself whether a training is due, whether or not a terminal is open."""
    from app.user_timer import NoUserTimers, UserTimer

    with open_session() as session:
        timer = UserTimer(session.household.home, session.settings.training, session.environ)
        removed = wanted == "remove" and timer.remove()
        try:
            state = timer.install() if wanted == "install" else timer.state()
        except NoUserTimers as error:
            # In full, to be copied; what a sentence holds is cut.
            write(error.line)
            raise
        if as_json:
            write_json(asdict(state))
        elif removed:
            write(session.catalogue.text("command.trainer.removed"))
        else:
            _show(session.catalogue, state)
        return 0


def _show(words: Catalogue, state: TimerState) -> None:
    if not state.installed:
        write(words.text("command.trainer.not_installed"))
        return
    write(words.text("command.trainer.installed" if state.active else "command.trainer.inactive", path=state.path))
    if not state.lingers:
        write(
            words.text("command.trainer.lingers_not" if state.lingers is False else "command.trainer.lingers_unknown")
        )


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
