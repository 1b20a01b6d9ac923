"""``enlace members remove``: somebody leaves the household, with all that is theirs."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.errors import OnlyMember
from app.commands.opening import open_session
from app.commands.options import MemberOption, YesOption, confirm
from app.commands.output import remark, write
from app.standing import admin_alone


def remove(
    name: Annotated[str, typer.Argument(help="command.members.name")],
    yes: YesOption = False,
    member: MemberOption = None,
) -> int:
    """Remove a member, everything in their file, and what they shared. Raises AdminAlone."""
    from app.withdrawing import forget_everywhere, trained_on

    with open_session(member=member) as session:
        members = session.household.members
        leaving = members.get(name)
        # Whoever leaves may do so themselves; whether it is them, their PIN says.
        if session.member.id != leaving.id:
            admin_alone(session)
        if len(members.list()) == 1:
            raise OnlyMember(name=leaving.name)
        words = session.catalogue
        household = session.household
        members.heir(leaving.id)
        every = [*household.corrections(), *household.ratings(), *household.approvals.waiting()]
        theirs = {each.id for each in every if each.member == leaving.id}
        shared = {each.id for each in every if each.id in theirs and each.source != "thumb"}
        learned = ", ".join(trained_on(session, shared))
        if shared:
            # Also where nobody is asked: what the others lose is said before it is gone.
            remark(words.count("command.members.shared", len(shared), name=leaving.name))
            if learned:
                remark(words.text("command.members.learned", snapshots=learned))
            remark(words.text("command.members.backup"))
        confirm(words.text("command.members.sure", name=leaving.name), yes=yes)
        heir = members.remove(leaving.id)
        # What past trainings wrote about their lessons goes as well.
        forget_everywhere(session, theirs)
        write(words.text("command.members.removed", name=leaving.name))
        if shared:
            write(words.count("command.members.gone", len(shared), name=leaving.name))
            if learned:
                write(words.text("command.members.learned", snapshots=learned))
        if heir is not None:
            write(words.text("command.members.heir", name=heir.name))
        return 0
