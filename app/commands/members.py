"""``enlace members``: who belongs to the household."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.catalogue import LANGUAGES
from app.commands.errors import AdminAlone, LanguageUnknown, OnlyMember
from app.commands.members_export import export
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, YesOption, confirm, group, moment, yes_no
from app.commands.output import remark, write, write_json, write_table
from app.report.wording import size

if TYPE_CHECKING:
    from app.session import Session
    from memory.members import Member, Standing
    from memory.private import KeptApart

NameArgument = Annotated[str, typer.Argument(help="command.members.name")]
OffOption = Annotated[bool, typer.Option("--off", help="command.members.off")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="command.members.language")]


def register(commands: typer.Typer) -> None:
    """Add the group ``members``."""
    members = group("members")
    members.command("list", help="command.members.list")(list_members)
    members.command("add", help="command.members.add")(add)
    members.command("rename", help="command.members.rename")(rename)
    members.command("child", help="command.members.child")(child)
    members.command("guest", help="command.members.guest")(guest)
    members.command("remove", help="command.members.remove")(remove)
    members.command("export", help="command.members.export.help")(export)
    commands.add_typer(members)


def list_members(as_json: JsonOption = False) -> int:
    """Everybody, the first to come first."""
    from memory.private import kept_apart

    with open_session() as session:
        session.household.members.default()
        everybody = session.household.members.list()
        apart = {m.id: kept_apart(session.home, m.id) for m in everybody} if session.member.admin else {}
        if as_json:
            told = {member: {"private": found and asdict(found)} for member, found in apart.items()}
            write_json([{**_public(member), **told.get(member.id, {})} for member in everybody])
            return 0
        words = session.catalogue
        # These columns are there only where somebody has something to put into them.
        kinds = any(member.standing != "trusted" for member in everybody)
        names = ["name", "language", "admin", *(["standing"] if kinds else []), "since"]
        names += ["private"] if any(apart.values()) else []
        heads = [words.text(f"command.members.heads.{head}") for head in names]
        own = {member: [_kept(found)] for member, found in apart.items()} if any(apart.values()) else {}
        rows = [
            [
                m.name,
                _spoken(m, session),
                yes_no(words, m.admin),
                *([_kind(m, session)] if kinds else []),
                moment(m.created_at),
                *own.get(m.id, []),
            ]
            for m in everybody
        ]
        write_table(heads, rows)
        return 0


def add(name: NameArgument, language: LanguageOption = None, as_json: JsonOption = False) -> int:
    """A new member with a file of their own."""
    with open_session() as session:
        member = session.household.members.add(name, _checked(language))
        if as_json:
            write_json(_public(member))
        else:
            write(session.catalogue.text("command.members.added", name=member.name))
        return 0


def rename(
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="command.members.new_name")],
    language: LanguageOption = None,
) -> int:
    """Another name for a member, and another language where one is given."""
    with open_session() as session:
        members = session.household.members
        member = members.rename(name, new_name)
        if language is not None:
            members.set_language(member.id, _checked(language))
        write(session.catalogue.text("command.members.renamed", name=name, new_name=member.name))
        return 0


def child(name: NameArgument, off: OffOption = False, member: MemberOption = None) -> int:
    """What a child shares waits for whoever administers before it is trained."""
    return _standing(name, "child", off=off, by=member)


def guest(name: NameArgument, off: OffOption = False, member: MemberOption = None) -> int:
    """The same for somebody whom the household does not know well."""
    return _standing(name, "guest", off=off, by=member)


def _standing(name: str, standing: Standing, *, off: bool, by: str | None) -> int:
    """Raises AdminAlone and MemberUnknown."""
    with open_session(member=by) as session:
        if not session.member.admin:
            raise AdminAlone(name=session.member.name)
        found = session.household.members.set_standing(name, "trusted" if off else standing)
        write(session.catalogue.text(f"command.members.standing.{found.standing}", name=found.name))
        return 0


def remove(name: NameArgument, yes: YesOption = False) -> int:
    """Remove a member, everything in their file, and what they shared."""
    from app.withdrawing import trained_on

    with open_session() as session:
        members = session.household.members
        member = members.get(name)
        if len(members.list()) == 1:
            raise OnlyMember(name=member.name)
        words = session.catalogue
        household = session.household
        lessons = (*household.corrections(), *household.approvals.waiting())
        shared = {each.id for each in lessons if each.member == member.id and each.source != "thumb"}
        learned = ", ".join(trained_on(session, shared))
        if shared:
            # Also where nobody is asked: what the others lose is said before it is gone.
            remark(words.count("command.members.shared", len(shared), name=member.name))
            if learned:
                remark(words.text("command.members.learned", snapshots=learned))
            remark(words.text("command.members.backup"))
        confirm(words.text("command.members.sure", name=member.name), yes=yes)
        heir = members.remove(member.id)
        write(words.text("command.members.removed", name=member.name))
        if shared:
            write(words.count("command.members.gone", len(shared), name=member.name))
            if learned:
                write(words.text("command.members.learned", snapshots=learned))
        if heir is not None:
            write(words.text("command.members.heir", name=heir.name))
        return 0


def _public(member: Member) -> dict[str, Any]:
    """What everybody may know of a member: not whether they have something trained for them alone."""
    return {name: getattr(member, name) for name in ("id", "name", "language", "created_at", "admin", "standing")}


def _kept(apart: KeptApart | None) -> str:
    """Size and time of a member's own weights: all that whoever looks after the machine is told of them."""
    return f"{size(apart.bytes)} · {moment(apart.changed_at)}" if apart else "—"


def _kind(member: Member, session: Session) -> str:
    return "—" if member.standing == "trusted" else session.catalogue.text(f"screen.members.kinds.{member.standing}")


def _spoken(member: Member, session: Session) -> str:
    """Their own language, or the household's, told as such."""
    return member.language or session.catalogue.text("command.members.household", language=session.household_language)


def _checked(language: str | None) -> str:
    """A language of their own; empty where the household's is to be spoken. Raises LanguageUnknown."""
    if language and language not in LANGUAGES:
        raise LanguageUnknown(language=language, known=", ".join(LANGUAGES))
    return language or ""
