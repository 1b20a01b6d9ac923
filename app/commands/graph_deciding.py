"""``enlace graph proposals``, ``merge``, ``refuse``, ``merges`` and ``unmerge``: who is one and who is two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, LimitOption, MemberOption, moment
from app.commands.output import write, write_json

if TYPE_CHECKING:
    from memory.graph.look import Node

ReferenceArgument = Annotated[str, typer.Argument(help="command.graph.reference")]
OtherArgument = Annotated[str | None, typer.Argument(help="command.graph.other")]


def register(graph: typer.Typer) -> None:
    """Add the commands to the group ``graph``."""
    graph.command("proposals", help="command.graph.proposals")(proposals)
    graph.command("merge", help="command.graph.merge")(merge)
    graph.command("refuse", help="command.graph.refuse")(refuse)
    graph.command("merges", help="command.graph.merges")(merges)
    graph.command("unmerge", help="command.graph.unmerge")(unmerge)


def proposals(limit: LimitOption = 100, member: MemberOption = None, as_json: JsonOption = False) -> int:
    """Pairs of one name that may be one or two."""
    from app.graph_words import statement_text
    from app.proposals import all_proposals

    with open_session(member=member) as session:
        found = all_proposals(session, limit)
        graph, words = session.memory.papers.graph, session.catalogue
        if as_json:
            listed = [
                {"id": each.id, "first": node_json(each.first), "second": node_json(each.second)} for each in found
            ]
            write_json(listed)
            return 0
        if not found:
            write(words.text("command.graph.no_proposals"))
        for number, each in enumerate(found, 1):
            kind = words.text(f"graph.kinds.{each.first.kind}")
            write(words.text("command.graph.proposal", number=number, name=each.first.name, kind=kind))
            for node in (each.first, each.second):
                told = [statement_text(said, words) for said in graph.statements(node)] or ["—"]
                write(f"   {node.id}: " + "; ".join(told))
        return 0


def merge(reference: ReferenceArgument, other: OtherArgument = None, member: MemberOption = None) -> int:
    """Say that two are one."""
    from app.proposals import join, pair

    with open_session(member=member) as session:
        first, second = pair(session, reference, other)
        joined = join(session, first, second)
        write(session.catalogue.text("command.graph.merged", name=first.name))
        if joined is not None:
            write(session.catalogue.text("command.graph.merged_undo", id=joined.id))
        return 0


def refuse(reference: ReferenceArgument, other: OtherArgument = None, member: MemberOption = None) -> int:
    """Say that two of one name are two, which is not asked again."""
    from app.proposals import pair, part

    with open_session(member=member) as session:
        first, second = pair(session, reference, other)
        part(session, first, second)
        write(session.catalogue.text("command.graph.parted", name=first.name))
        return 0


def merges(limit: LimitOption = 100, member: MemberOption = None, as_json: JsonOption = False) -> int:
    """Who was made one, the last first."""
    from app.graph_words import join_text, one_line
    from app.proposals import joined

    with open_session(member=member) as session:
        found, words = joined(session, limit), session.catalogue
        if as_json:
            write_json(
                [
                    {"id": each.id, "node": node_json(each.node), "name": each.name, "by": each.by, "at": each.at}
                    for each in found
                ]
            )
            return 0
        if not found:
            write(words.text("command.graph.no_merges"))
        for number, each in enumerate(found, 1):
            write(f"{number}. {one_line(each.node.name)} · {moment(each.at)} · {join_text(each, words)} · {each.id}")
        return 0


def unmerge(
    reference: Annotated[str, typer.Argument(help="command.graph.merge_reference")], member: MemberOption = None
) -> int:
    """Make two again of what was made one, each with what was said of them."""
    from app.proposals import take_back, to_take_back

    with open_session(member=member) as session:
        joined = to_take_back(session, reference)
        take_back(session, joined)
        write(session.catalogue.text("command.graph.unmerged", first=joined.node.name, second=joined.name))
        return 0


def node_json(node: Node) -> dict[str, Any]:
    """A node for programs."""
    return {"id": node.id, "kind": node.kind, "name": node.name, "visibility": node.visibility}
