"""``enlace members``: who belongs to the household."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.catalogue import LANGUAGES
from app.commands.errors import LanguageUnknown, OptionsApart
from app.commands.members_entrance import empty, passphrase, pin
from app.commands.members_export import export
from app.commands.members_remove import remove
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, group, moment, yes_no
from app.commands.output import remark, write, write_json, write_table
from app.report.wording import size
from app.standing import admin_alone, adults_alone

if TYPE_CHECKING:
    from app.session import Session
    from memory.members import Member, Standing
    from memory.private import KeptApart

NameArgument = Annotated[str, typer.Argument(help="command.members.name")]
OffOption = Annotated[bool, typer.Option("--off", help="command.members.off")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="command.members.language")]
ColourOption = Annotated[str | None, typer.Option("--colour", help="command.members.colour")]
VoiceOption = Annotated[str | None, typer.Option("--voice", help="command.members.voice")]


def register(commands: typer.Typer) -> None:
    """Add the group ``members``."""
    members = group("members")
    members.command("list", help="command.members.list")(list_members)
    members.command("add", help="command.members.add")(add)
    members.command("edit", help="command.members.edit")(edit)
    members.command("pin", help="command.members.pin")(pin)
    members.command("passphrase", help="command.members.passphrase")(passphrase)
    members.command("child", help="command.members.child")(child)
    members.command("guest", help="command.members.guest")(guest)
    members.command("empty", help="command.members.empty")(empty)
    members.command("remove", help="command.members.remove")(remove)
    members.command("export", help="command.members.export.help")(export)
    commands.add_typer(members)


def list_members(as_json: JsonOption = False) -> int:
    """Everybody, the first to come first."""
    from memory.private import kept_apart

    with open_session() as session:
        session.household.members.default()
        everybody = session.household.members.list()
        # Nobody proves who they are for this: the file system tells as much.
        apart = {m.id: kept_apart(session.home, m.id) for m in everybody} if session.whoever.admin else {}
        if as_json:
            told = {member: {"private": found and asdict(found)} for member, found in apart.items()}
            write_json([{**_public(session, member), **told.get(member.id, {})} for member in everybody])
            return 0
        words = session.catalogue
        # These columns are there only where somebody has something to put into them.
        kinds = any(member.standing != "trusted" for member in everybody)
        names = ["name", "language", "admin", *(["standing"] if kinds else []), "entrance", "colour", "since"]
        names += ["private"] if any(apart.values()) else []
        heads = [words.text(f"command.members.heads.{head}") for head in names]
        own = {member: [_kept(found)] for member, found in apart.items()} if any(apart.values()) else {}
        rows = [
            [
                m.name,
                _spoken(m, session),
                yes_no(words, m.admin),
                *([_kind(m, session)] if kinds else []),
                words.text(f"command.members.entrance.{_entrance(session, m)}"),
                words.text(f"command.members.colours.{m.colour}"),
                moment(m.created_at),
                *own.get(m.id, []),
            ]
            for m in everybody
        ]
        write_table(heads, rows)
        return 0


def add(
    name: NameArgument,
    language: LanguageOption = None,
    colour: ColourOption = None,
    as_child: Annotated[bool, typer.Option("--child", help="command.members.as_child")] = False,
    as_guest: Annotated[bool, typer.Option("--guest", help="command.members.as_guest")] = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """A new member with a file of their own. Raises AdultsAlone."""
    if as_child and as_guest:
        raise OptionsApart(option="--child", other="--guest")
    with open_session(member=member) as session:
        members = session.household.members
        # The first of a house has nobody to ask.
        if members.list():
            adults_alone(session)
        standing: Standing = "child" if as_child else "guest" if as_guest else "trusted"
        added = members.add(name, _checked(language), standing=standing, colour=colour or "")
        if as_json:
            write_json(_public(session, added))
        else:
            write(session.catalogue.text("command.members.added", name=added.name))
            remark(session.catalogue.text("command.members.open", name=added.name))
        return 0


def edit(
    name: NameArgument,
    new_name: Annotated[str | None, typer.Option("--name", help="command.members.new_name")] = None,
    language: LanguageOption = None,
    colour: ColourOption = None,
    voice: VoiceOption = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Another name, language or colour, or another way of being spoken to. Raises AdminAlone."""
    # Whoever says who they are acts; else it is the one who is changed.
    with open_session(member=member or os.environ.get("ENLACE_MEMBER") or name) as session:
        members = session.household.members
        changed = members.get(name)
        if session.member.id != changed.id and (new_name, language, colour) != (None, None, None):
            admin_alone(session)
        if new_name is not None:
            changed = members.rename(changed.id, new_name)
        if language is not None:
            changed = members.set_language(changed.id, _checked(language))
        if colour is not None:
            changed = members.set_colour(changed.id, colour)
        # How they are spoken to is in their own file, which nobody opens for them.
        own = session if session.member.id == changed.id else session.as_member(changed.id)
        manner = own.memory.voice.set(voice) if voice is not None else None
        words = session.catalogue
        if as_json:
            write_json({**_public(session, changed), **({} if manner is None else {"voice": manner})})
            return 0
        write(words.text("command.members.edited", name=changed.name))
        if manner is not None:
            write(words.text(f"command.members.{'speaks' if manner else 'speaks_as_ever'}", voice=manner))
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
        admin_alone(session)
        found = session.household.members.set_standing(name, "trusted" if off else standing)
        write(session.catalogue.text(f"command.members.standing.{found.standing}", name=found.name))
        return 0


def _public(session: Session, member: Member) -> dict[str, Any]:
    """What everybody may know of a member: not whether they have something trained for them alone."""
    names = ("id", "name", "language", "created_at", "admin", "standing", "colour")
    return {**{name: getattr(member, name) for name in names}, "entrance": _entrance(session, member)}


def _entrance(session: Session, member: Member) -> str:
    return session.household.doors.secret_of(member.id) or "open"


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
