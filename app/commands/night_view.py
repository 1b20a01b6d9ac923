"""What is said of the next training that begins by itself: how near it is, and what keeps it from beginning now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.commands.output import write
from app.night import reason_text
from app.user_timer import UserTimer

if TYPE_CHECKING:
    from app.session import Session


def as_json(session: Session, night: Mapping[str, Any]) -> dict[str, Any]:
    """The same for other programs, with whether a timer of the system's is installed."""
    return {"night": {**night, "timer": _timer(session)}}


def write_night(session: Session, night: Mapping[str, Any]) -> None:
    """``night``: as ``app.night.night_state`` has it."""
    words = session.catalogue
    counted = {name: night[name] for name in ("pairs", "needed", "preference")}
    write(words.text("command.trainer.tonight.pairs", **counted))
    if night["reasons"]:
        write(words.text("command.trainer.tonight.not_now"))
    else:
        write(words.text("command.trainer.tonight.now"))
    for reason in night["reasons"]:
        write(f"· {reason_text(words, reason)}")
    if not (night["scheduler"] or _timer(session)):
        write(words.text("command.trainer.tonight.nobody_looks"))


def _timer(session: Session) -> bool:
    return UserTimer(session.home, session.settings.training, session.environ).timer.exists()
