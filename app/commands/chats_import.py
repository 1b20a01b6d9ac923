"""``enlace chats import``: what a member said to another assistant, or here before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption
from app.commands.output import remark, write, write_json
from app.commands.progress import progress

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.imports.reading import BadEntry
    from memory.imports.storing import ImportedChats


def import_chats(
    file: Annotated[Path, typer.Argument(help="command.chats.import.file")],
    member: MemberOption = None,
    skip_bad: Annotated[Path | None, typer.Option("--skip-bad", help="command.chats.import.skip_bad")] = None,
    as_json: JsonOption = False,
) -> int:
    """Add the conversations of an export to the member's own: all of them or none, and each once."""
    from memory.errors import ExportEntriesWrong
    from memory.imports.storing import import_chats as take_in

    with open_session(member=member) as session:
        words = session.catalogue
        try:
            with (
                progress(words, "command.chats.import.checking") as check,
                progress(words, "command.chats.import.storing") as store,
            ):
                settings = session.settings.memory.imports
                done = take_in(session.memory.chats, file, settings, bad_to=skip_bad, check=check, store=store)
        except ExportEntriesWrong as wrong:
            count = wrong.facts["count"]
            _tell_bad(words, wrong.bad, count if isinstance(count, int) else len(wrong.bad))
            raise
        if done.bad:
            _tell_bad(words, done.bad, done.bad_count)
            remark(words.count("command.chats.import.skipped", done.bad_count, path=skip_bad))
        if as_json:
            write_json(_told(done))
        else:
            _tell(words, done)
        return 0


def _tell(words: Catalogue, done: ImportedChats) -> None:
    write(words.count("command.chats.import.done", done.conversations, messages=done.messages))
    if done.known:
        write(words.count("command.chats.import.known", done.known))
    if done.empty:
        remark(words.count("command.chats.import.empty", done.empty))
    if done.passed_over:
        remark(words.count("command.chats.import.passed_over", done.passed_over))
    if done.attachments:
        remark(words.count("command.chats.import.attachments", done.attachments))


def _told(done: ImportedChats) -> dict[str, object]:
    bad = [{key: value for key, value in asdict(each).items() if key != "raw"} for each in done.bad]
    return {**asdict(done), "bad": bad, "origins": dict(done.origins)}


def _tell_bad(words: Catalogue, entries: Sequence[BadEntry], count: int) -> None:
    """Each entry that is no conversation with its place and why, up to a screenful."""
    for each in entries:
        place = words.text("command.chats.import.place", file=each.file, number=each.number, at=each.at)
        remark(words.text(f"command.chats.import.bad.{each.reason}", place=place, **each.facts))
    if count > len(entries):
        remark(words.text("command.chats.import.bad.more", number=count - len(entries)))
