"""``enlace tools``: what the assistant can do besides talking."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, group
from app.commands.output import write, write_json, write_table


def register(commands: typer.Typer) -> None:
    """Add the group ``tools``."""
    tools = group("tools")
    tools.command("list", help="command.tools.list")(list_tools)
    tools.command("call", help="command.tools.call")(call)
    commands.add_typer(tools)


def list_tools(as_json: JsonOption = False) -> int:
    """The tools, what they take and what they are for."""
    from tools.registry import default_registry

    with open_session() as session:
        found = default_registry().list()
        if as_json:
            write_json([{"name": t.name, "parameters": t.parameters, "description": t.description} for t in found])
            return 0
        heads = [
            session.catalogue.text(f"command.tools.heads.{head}") for head in ("name", "parameters", "description")
        ]
        rows = [
            (
                tool.name,
                ", ".join(name if needed else f"[{name}]" for name, needed in tool.parameters.items()),
                session.catalogue.text(f"tools.{tool.name}.description"),
            )
            for tool in found
        ]
        write_table(heads, rows)
        return 0


def call(
    name: Annotated[str, typer.Argument(help="command.tools.name")],
    arguments: Annotated[list[str] | None, typer.Argument(help="command.tools.arguments")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run one tool by hand."""
    from tools.errors import ToolArgumentWrong
    from tools.registry import ToolContext, default_registry

    with open_session(member=member) as session:
        registry = default_registry()
        names = list(registry.get(name).parameters)
        given = arguments or []
        if len(given) > len(names):
            raise ToolArgumentWrong(name=name, argument=given[len(names)], expected=", ".join(names))
        settings = session.settings
        context = ToolContext(session.home, settings.tools, session.catalogue, time.time, settings.assistant.time_zone)
        session.home.prepare()
        result = asyncio.run(registry.call(name, dict(zip(names, given, strict=False)), context))
        if as_json:
            write_json({"text": result.text, "sources": [vars(source) for source in result.sources]})
            return 0
        write(result.text)
        for source in result.sources:
            write(f"[{source.number}] {source.url}")
        return 0
