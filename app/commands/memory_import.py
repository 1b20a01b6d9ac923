"""``enlace memory import``: facts that ``enlace members export`` wrote, taken in again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption
from app.commands.output import write, write_json
from app.paths import whole_path

_NAME = "facts.jsonl"


def import_facts(
    file: Annotated[Path, typer.Argument(help="command.memory.import.file")],
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Add the facts of an export to the member's own: all of them or none, and each once."""
    from memory.fact_files import import_facts as take_in

    with open_session(member=member) as session:
        path, settings = whole_path(file), session.settings.memory
        most = max(settings.fact_characters, settings.facts.longest_message)
        members = {each.id for each in session.household.members.list()}
        ledger = session.memory.hearing.ledger
        done = take_in(ledger, session.member.id, members, path / _NAME if path.is_dir() else path, most)
        if as_json:
            write_json(asdict(done))
            return 0
        words = session.catalogue
        write(words.count("command.memory.import.done", done.added))
        if done.known:
            write(words.count("command.memory.import.known", done.known))
        return 0
