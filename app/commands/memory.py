"""``enlace memory``: what a member asked to be remembered."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands import memory_history
from app.commands.errors import OptionsApart
from app.commands.forgotten import tell_forgotten
from app.commands.memory_history import find_fact
from app.commands.memory_import import import_facts
from app.commands.memory_search import search
from app.commands.opening import open_session
from app.commands.options import ForGoodOption, JsonOption, MemberOption, YesOption, confirm, group, moment
from app.commands.output import write, write_json, write_table
from app.standing import own_facts_alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from memory.facts import Fact
    from memory.visibility import Visibility

FactArgument = Annotated[str, typer.Argument(help="command.memory.reference")]
SharedOption = Annotated[bool | None, typer.Option("--shared/--private", help="command.memory.shared")]


def register(commands: typer.Typer) -> None:
    """Add the group ``memory``."""
    memory = group("memory")
    memory.command("list", help="command.memory.list")(list_facts)
    memory.command("add", help="command.memory.add")(add)
    memory.command("edit", help="command.memory.edit")(edit)
    memory.command("forget", help="command.memory.forget")(forget)
    memory.command("restore", help="command.memory.restore")(restore)
    memory.command("search", help="command.memory.search")(search)
    memory.command("import", help="command.memory.import.help")(import_facts)
    memory_history.register(memory)
    commands.add_typer(memory)


def list_facts(
    member: MemberOption = None,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="command.memory.forgotten")] = False,
    as_of: Annotated[
        datetime | None, typer.Option("--as-of", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="command.memory.as_of")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """The member's own facts and the shared ones, the newest first."""
    if forgotten and as_of is not None:
        raise OptionsApart(option="--forgotten", other="--as-of")
    with open_session(member=member) as session:
        # Unlike timestamp, also of the first year there is.
        at = time.mktime(as_of.timetuple()) if as_of is not None else None
        return _show(session, session.memory.facts.list(forgotten=forgotten, as_of=at), as_json=as_json)


def add(
    text: Annotated[str, typer.Argument(help="command.memory.text")],
    member: MemberOption = None,
    shared: SharedOption = None,
    as_json: JsonOption = False,
) -> int:
    """Remember a text as the member's word."""
    with open_session(member=member) as session:
        own_facts_alone(session, shares=bool(shared))
        fact = session.memory.facts.add(text, visibility="shared" if shared else "private")
        if as_json:
            write_json(vars(fact))
        else:
            write(session.catalogue.text("assistant.remembered", fact=fact.text))
        return 0


def edit(
    reference: FactArgument,
    text: Annotated[str | None, typer.Argument(help="command.memory.new_text")] = None,
    member: MemberOption = None,
    shared: SharedOption = None,
) -> int:
    """Other words for a fact, or others who see it."""
    with open_session(member=member) as session:
        visibility: Visibility | None = None if shared is None else "shared" if shared else "private"
        found = find_fact(session, reference)
        own_facts_alone(session, found, shares=bool(shared))
        fact = session.memory.facts.edit(found.id, text=text, visibility=visibility)
        write(session.catalogue.text("assistant.remembered", fact=fact.text))
        return 0


def forget(
    reference: FactArgument, member: MemberOption = None, for_good: ForGoodOption = False, yes: YesOption = False
) -> int:
    """Take a fact out of recall, and ``restore`` brings it back; or remove it for good."""
    with open_session(member=member) as session:
        if for_good:
            from app.forgetting import forget_fact

            fact = find_fact(session, reference, forgotten=None)
            confirm(session.catalogue.text("command.memory.sure_for_good", fact=fact.text), yes=yes)
            tell_forgotten(session, forget_fact(session, fact.id), fact.text)
            return 0
        found = find_fact(session, reference)
        own_facts_alone(session, found)
        fact = session.memory.facts.forget(found.id)
        write(session.catalogue.text("command.memory.forgot", fact=fact.text, id=fact.id))
        return 0


def restore(reference: FactArgument, member: MemberOption = None) -> int:
    """Remember again what was forgotten."""
    with open_session(member=member) as session:
        found = find_fact(session, reference, forgotten=True)
        own_facts_alone(session, found)
        fact = session.memory.facts.restore(found.id)
        write(session.catalogue.text("assistant.remembered", fact=fact.text))
        return 0


def _show(session: Session, facts: Sequence[Fact], *, as_json: bool) -> int:
    names = {member.id: member.name for member in session.household.members.list()}
    if as_json:
        write_json([{**vars(fact), "said_by_name": names.get(fact.said_by)} for fact in facts])
        return 0
    words = session.catalogue
    if not facts:
        write(words.text("command.memory.none"))
        return 0
    heads = [words.text(f"command.memory.heads.{head}") for head in ("number", "when", "who", "seen_by", "text")]
    rows = [
        (n, moment(f.created_at), names.get(f.said_by, "?"), words.text(f"command.{f.visibility}"), f.text)
        for n, f in enumerate(facts, 1)
    ]
    write_table(heads, rows)
    return 0
