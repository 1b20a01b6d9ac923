"""``enlace graph``: whom and what the documents speak of, and how it belongs together."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands import graph_deciding
from app.commands.errors import OptionNeeds, OptionsApart
from app.commands.graph_deciding import node_json
from app.commands.opening import open_session
from app.commands.options import JsonOption, LimitOption, MemberOption, group
from app.commands.output import write, write_json, write_table

if TYPE_CHECKING:
    from app.session import Session
    from memory.graph.look import Graph, Node, Statement, Step

NameArgument = Annotated[str, typer.Argument(help="command.graph.name")]


def register(commands: typer.Typer) -> None:
    """Add the group ``graph``."""
    graph = group("graph")
    graph.command("show", help="command.graph.show")(show)
    graph.command("query", help="command.graph.query")(query)
    graph_deciding.register(graph)
    commands.add_typer(graph)


def show(
    name: NameArgument,
    hops: Annotated[int | None, typer.Option("--hops", min=1, max=6, help="command.graph.hops")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Draw who and what is around somebody."""
    from app.graph_drawing import draw

    with open_session(member=member) as session:
        graph, limits = session.memory.papers.graph, session.settings.memory.documents
        found = [(node, graph.around(node, hops or limits.hops, limits.neighbours)) for node in graph.find(name)]
        if as_json:
            write_json([_around(graph, node, steps) for node, steps in found])
            return 0
        columns = shutil.get_terminal_size().columns
        for number, (node, steps) in enumerate(found):
            if number:
                write("")
            for line in draw(node, graph.statements(node), steps, session.catalogue, columns):
                write(line)
        if len(found) > 1:
            write("")
            write(session.catalogue.text("command.graph.several", name=name))
        return 0


def query(
    kind: Annotated[str | None, typer.Option("--kind", help="command.graph.kind")] = None,
    relation: Annotated[str | None, typer.Option("--relation", help="command.graph.relation")] = None,
    first: Annotated[str | None, typer.Option("--from", help="command.graph.first")] = None,
    last: Annotated[str | None, typer.Option("--to", help="command.graph.last")] = None,
    limit: LimitOption = 100,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Those of a kind, what is said by one relation, or the way from one to another.

    Raises OptionNeeds, and OptionsApart for what would not be looked at.
    """
    if last is not None and first is None:
        raise OptionNeeds(option="--to", other="--from")
    if last is not None and relation is not None:
        raise OptionsApart(option="--relation", other="--to")
    if kind is not None and (relation is not None or first is not None):
        raise OptionsApart(option="--kind", other="--relation" if relation is not None else "--from")
    with open_session(member=member) as session:
        graph = session.memory.papers.graph
        if first is not None and last is not None:
            return _path(session, graph, first, last, as_json=as_json)
        if relation is not None or first is not None:
            return _related(session, graph, relation, first, limit, as_json=as_json)
        return _nodes(session, graph, kind, limit, as_json=as_json)


def _path(session: Session, graph: Graph, first: str, last: str, *, as_json: bool) -> int:
    from app.graph_words import name_of, step_text

    ways = [
        (start, way)
        for start in graph.find(first)
        for end in graph.find(last)
        if (way := graph.path(start, end)) is not None
    ]
    if as_json:
        write_json([[_step(step) for step in way] for _, way in ways])
        return 0
    if not ways:
        write(session.catalogue.text("command.graph.no_path", first=first, last=last))
    for start, way in ways:
        write(name_of(start, session.catalogue))
        for step in way:
            write(f"→ {step_text(step, session.catalogue)}")
    return 0


def _related(
    session: Session, graph: Graph, relation: str | None, name: str | None, limit: int, *, as_json: bool
) -> int:
    from app.graph_words import source_text, statement_text
    from memory.documents.errors import TermUnknown
    from memory.graph.terms import PROPERTIES, RELATIONS

    if relation is not None and relation not in RELATIONS and relation not in PROPERTIES:
        raise TermUnknown(term=relation, known=" ".join([*RELATIONS, *PROPERTIES]))
    found: Sequence[Statement]
    if name is not None:
        found = [said for node in graph.find(name) for said in graph.statements(node)]
        found = [said for said in found if relation in (None, said.predicate)][:limit]
    else:
        found = graph.related(relation or "", limit)
    if as_json:
        write_json([_statement(each) for each in found])
        return 0
    if not found:
        write(session.catalogue.text("command.graph.nothing"))
    for each in found:
        write(statement_text(each, session.catalogue) + source_text(each.evidence, session.catalogue))
    return 0


def _nodes(session: Session, graph: Graph, kind: str | None, limit: int, *, as_json: bool) -> int:
    from memory.documents.errors import TermUnknown
    from memory.graph.terms import KINDS

    known = next((each for each in KINDS if each == kind), None)
    if kind is not None and known is None:
        raise TermUnknown(term=kind, known=" ".join(KINDS))
    found = graph.nodes(known, limit)
    if as_json:
        write_json([node_json(node) for node in found])
        return 0
    words = session.catalogue
    if not found:
        write(words.text("command.graph.nothing"))
        return 0
    heads = [words.text(f"command.graph.heads.{head}") for head in ("id", "kind", "seen_by", "name")]
    rows = [(n.id, words.text(f"graph.kinds.{n.kind}"), words.text(f"command.{n.visibility}"), n.name) for n in found]
    write_table(heads, rows)
    return 0


def _around(graph: Graph, node: Node, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "node": node_json(node),
        "statements": [_statement(each) for each in graph.statements(node)],
        "around": [_step(step) for step in steps],
    }


def _step(step: Step) -> dict[str, Any]:
    ends = {"before": node_json(step.before), "after": node_json(step.after)}
    return {**ends, "predicate": step.predicate, "turned": step.turned}


def _statement(statement: Statement) -> dict[str, Any]:
    obj = statement.object if isinstance(statement.object, str) else node_json(statement.object)
    return {
        "subject": node_json(statement.subject),
        "predicate": statement.predicate,
        "object": obj,
        "evidence": [asdict(each) for each in statement.evidence],
    }
