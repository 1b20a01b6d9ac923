"""``enlace members pin``, ``passphrase`` and ``empty``: what lets a member in, and what if that is lost."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.errors import OptionsApart
from app.commands.opening import open_session
from app.commands.options import MemberOption, YesOption, confirm
from app.commands.output import remark, write
from app.commands.proving import ask_new, ask_secret
from app.standing import admin_alone

OwnName = Annotated[str | None, typer.Argument(help="command.members.own_name")]
OffOption = Annotated[bool, typer.Option("--off", help="command.members.no_longer_asked")]


def pin(
    name: OwnName = None,
    off: OffOption = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="command.members.forgotten")] = False,
) -> int:
    """Have a PIN asked for before a member's file is opened, another one, or none."""
    if off and forgotten:
        raise OptionsApart(option="--off", other="--forgotten")
    with open_session(member=name) as session:
        words, doors = session.catalogue, session.household.doors
        if forgotten:
            code = ask_secret(session, session.whoever, "way_back")
            way_back = doors.recover(session.whoever, code, ask_new(session, session.whoever, "pin"))
        elif off:
            doors.remove_pin(session.member)
            write(words.text("command.members.open", name=session.member.name))
            return 0
        else:
            way_back = doors.set_pin(session.member, ask_new(session, session.member, "pin"))
        write(words.text("command.members.has_pin", name=session.member.name))
        write(words.text("command.members.way_back", name=session.member.name, code=way_back))
        return 0


def passphrase(name: OwnName = None, off: OffOption = False, yes: YesOption = False) -> int:
    """Encrypt a member's file by a passphrase, change it, or have the file be plain again."""
    from memory.private import kept_apart
    from memory.sealing import decrypt, encrypt

    with open_session(member=name) as session:
        words, member, household = session.catalogue, session.member, session.household
        if off:
            decrypt(household, member.id)
            write(words.text("command.members.plain", name=member.name))
            remark(words.text("command.members.open", name=member.name))
            return 0
        if household.doors.secret_of(member.id) != "passphrase":
            remark(words.text("command.members.before_encrypting", name=member.name))
            if member.private_training or kept_apart(session.home, member.id):
                remark(words.text("command.members.untrained", name=member.name))
            confirm(words.text("command.members.sure_to_encrypt", name=member.name), yes=yes)
        encrypt(household, member.id, ask_new(session, member, "passphrase"))
        write(words.text("command.members.encrypted", name=member.name))
        return 0


def empty(
    name: Annotated[str, typer.Argument(help="command.members.name")],
    yes: YesOption = False,
    member: MemberOption = None,
) -> int:
    """Remove what a member keeps to themselves, and their PIN: for whoever has lost it. Raises AdminAlone."""
    with open_session(member=member) as session:
        members, words = session.household.members, session.catalogue
        emptied = members.get(name)
        admin_alone(session)
        confirm(words.text("command.members.sure_to_empty", name=emptied.name), yes=yes)
        members.empty(emptied.id)
        write(words.text("command.members.emptied", name=emptied.name))
        remark(words.text("command.members.open", name=emptied.name))
        return 0
