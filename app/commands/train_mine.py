"""``enlace train mine``: what is trained of a member's private lessons, for that member alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, moment
from app.commands.output import write, write_json
from app.report.wording import size
from memory.entrance_errors import TrainedInTheOpen

if TYPE_CHECKING:
    from app.session import Session


def mine(
    wanted: Annotated[Literal["on", "off"] | None, typer.Argument(help="command.train.mine.wanted")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Whether the member has a training of their own, and what came of it; ``on`` and ``off`` change it.

    Raises TrainedInTheOpen where their file is encrypted.
    """
    with open_session(member=member) as session:
        if wanted == "on" and _encrypted(session):
            raise TrainedInTheOpen(name=session.member.name)
        if wanted:
            session.household.members.set_private_training(session.member.id, wanted == "on")
        state = _state(session)
        if as_json:
            write_json(state)
        else:
            _tell(session, state)
        return 0


def _state(session: Session) -> dict[str, Any]:
    own, current = session.memory.private, session.snapshot()
    on = session.household.members.get(session.member.id).private_training
    record = own.current()
    learned = own.lessons(record.run) if record else frozenset()
    return {
        "on": on,
        "encrypted": _encrypted(session),
        "adapter": record.id if record else None,
        "bytes": record.bytes if record else None,
        "created_at": record.created_at if record else None,
        "run": record.run if record else None,
        "snapshot": record.snapshot if record else None,
        "current": current.id,
        "belongs": record is not None and record.belongs_to(current),
        "answers": answers(session, session.member.id),
        "waiting": sum(lesson.id not in learned for lesson in own.corrections()),
    }


def _encrypted(session: Session) -> bool:
    return session.household.doors.secret_of(session.member.id) == "passphrase"


def answers(session: Session, member: str) -> bool:
    """Whether what was trained for this member (an id) alone answers them now.

    Over another form of the model's file than it was trained over the engine leaves it out.
    """
    from app.assistant.private import own_adapter
    from engine.errors import EngineError
    from engine.served import is_as_recorded, read_served

    own = own_adapter(session.household, member)
    try:
        return own is not None and is_as_recorded(session.home, read_served(session.home, own.manifest))
    except EngineError:
        return False


def _tell(session: Session, state: dict[str, Any]) -> None:
    words = session.catalogue
    how = "encrypted" if state["encrypted"] else "on" if state["on"] else "off"
    write(words.text(f"command.train.mine.{how}", name=session.member.name))
    if state["adapter"]:
        made = {"adapter": state["adapter"], "size": size(state["bytes"]), "when": moment(state["created_at"])}
        write(words.text("command.train.mine.made", snapshot=state["snapshot"], **made))
        if state["answers"]:
            write(words.text("command.train.mine.answers", name=session.member.name))
        elif state["on"]:
            why = "other_form" if state["belongs"] else "left_behind"
            write(words.text(f"command.train.mine.{why}", **state))
    if state["waiting"]:
        write(words.count("command.train.mine.waiting", state["waiting"]))
