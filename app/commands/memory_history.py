"""``enlace memory show``, ``undo`` and ``rebuild``: where a fact comes from, and how it is taken back or made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, find, moment
from app.commands.output import write, write_json
from app.fact_story import evidence_of, origin_of, parts_of, until

if TYPE_CHECKING:
    from app.session import Session
    from memory.facts import Fact


def register(memory: typer.Typer) -> None:
    """Add the commands to the group ``memory``."""
    memory.command("show", help="command.memory.show")(show)
    memory.command("undo", help="command.memory.undo")(undo)
    memory.command("rebuild", help="command.memory.rebuild")(rebuild)


def show(
    reference: Annotated[str, typer.Argument(help="command.memory.reference")],
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """One fact: what it says of whom, whose words it rests on, and what was so before and after."""
    with open_session(member=member) as session:
        fact = find_fact(session, reference)
        history = session.memory.facts.history(fact.id)
        evidence = evidence_of(session, fact)
        if as_json:
            write_json(
                {
                    **vars(fact),
                    "origin": origin_of(session, fact),
                    "evidence": evidence,
                    "history": [vars(each) for each in history],
                }
            )
            return 0
        words = session.catalogue
        write(fact.text)
        for name, value in parts_of(session, fact, evidence):
            write(f"  {words.text(f'command.memory.parts.{name}')}: {value}")
        if len(history) > 1:
            write(words.text("command.memory.history"))
            for each in history:
                write(f"  {moment(each.valid_from)} – {until(session, each)}  {each.text}")
        return 0


def undo(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """Take back what the last message left in memory, as if it had never been said."""
    with open_session(member=member) as session:
        facts = session.memory.facts
        own = [fact for fact in facts.list() if fact.said_by == session.member.id]
        last = [facts.undo(fact.id) for fact in own if fact.source == own[0].source]
        if as_json:
            write_json([vars(fact) for fact in last])
            return 0
        if not last:
            write(session.catalogue.text("command.memory.nothing_to_undo"))
        for fact in last:
            write(session.catalogue.text("command.memory.forgot", fact=fact.text, id=fact.id))
        return 0


def rebuild(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """Make all facts of the member anew from what was said and done, and tell which came out otherwise."""
    with open_session(member=member) as session:
        rebuilt = session.memory.hearing.rebuild()
        if as_json:
            changed = {"gone": rebuilt.gone, "new": rebuilt.new}
            write_json({"facts": rebuilt.facts, **{key: [vars(f) for f in found] for key, found in changed.items()}})
            return 0
        words = session.catalogue
        write(words.count("command.memory.rebuilt", rebuilt.facts))
        if rebuilt.gone or rebuilt.new:
            write(words.text("command.memory.came_out_otherwise"))
        for sign, found in (("-", rebuilt.gone), ("+", rebuilt.new)):
            for fact in found:
                write(f"{sign} {fact.text}")
        return 0


def find_fact(session: Session, reference: str, *, forgotten: bool | None = False) -> Fact:
    """The fact that a person names: by its place in the list, or by an id, also of one that no longer stands.

    ``forgotten``: whether it is one of those; None: it may be, and those come after the others. Raises FactUnknown and
    ReferenceUnclear.
    """
    from memory.errors import FactUnknown

    facts = session.memory.facts
    lists = (False, True) if forgotten is None else (forgotten,)
    listed = [each for among in lists for each in facts.list(forgotten=among)]
    try:
        return find(listed, reference, lambda entry: entry.id, lambda wrong: FactUnknown(id=wrong))
    except FactUnknown:
        return facts.get(reference)
