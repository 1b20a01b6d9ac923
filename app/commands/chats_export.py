"""``enlace chats export``: conversations for people, for programs, and to be imported again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from app.commands.errors import OptionsApart
from app.commands.finding import find_chat
from app.commands.opening import open_session
from app.commands.options import MANY, JsonOption, MemberOption
from app.commands.output import harmless, write, write_json, write_raw
from app.said_pages import whole_page


def export(
    reference: Annotated[str | None, typer.Argument(help="command.chats.reference_or_all")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="command.options.output")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
    as_lines: Annotated[bool, typer.Option("--jsonl", help="command.chats.jsonl")] = False,
) -> int:
    """One conversation or all of them, every branch, as Markdown, as JSON, or as lines that can be imported."""
    from memory.exports import conversation_line, conversation_object
    from memory.whole_files import write_new

    if as_json and as_lines:
        raise OptionsApart(option="--json", other="--jsonl")
    with open_session(member=member) as session:
        chats, words = session.memory.chats, session.catalogue
        chosen = [find_chat(session, reference)] if reference else chats.list(MANY)
        parts: Iterator[str]
        if as_lines:
            parts = (conversation_line(c, chats.messages(c.id)) for c in chosen)
        elif as_json:
            content = [conversation_object(c, chats.messages(c.id)) for c in chosen]
            if output is None:
                write_json(content)
                return 0
            import json

            parts = iter([json.dumps(content, ensure_ascii=False, indent=2) + "\n"])
        else:
            pages = (whole_page(words, c, chats.path(c.id), chats.messages(c.id)) for c in chosen)
            parts = (page if number == 0 else f"\n{page}" for number, page in enumerate(pages))
        if output is not None:
            write_new(output, parts)
            write(words.count("command.chats.exported", len(chosen), path=output))
            return 0
        for part in parts:
            if as_lines:
                write_raw(harmless(part))
            else:
                write(part, end="")
        return 0
