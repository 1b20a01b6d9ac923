"""``enlace members export``: all that is one member's, in a folder that reads without Enlace."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, moment
from app.commands.output import write, write_json
from app.paths import whole_path
from app.said_pages import whole_page

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session
    from memory.archives import Archive
    from memory.documents.taken_along import TakenDocument


def export(
    folder: Annotated[Path, typer.Argument(help="command.members.export.folder")],
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write everything of the member's into a new folder: as lines for programs, and as pages for people."""
    from memory.archives import archive_of, write_archive
    from memory.errors import FileNotWritten
    from memory.whole_files import refuse_to_replace

    with open_session(member=member) as session:
        memory, to = session.memory, whole_path(folder)
        refuse_to_replace(to)
        archive = archive_of(memory)
        aside = to.with_name(f".{to.name}.{os.urandom(4).hex()}.part")
        try:
            aside.mkdir(mode=0o700)
            write_archive(memory, archive, aside)
            _write_pages(session, archive, aside)
            documents = _take_documents(session, aside)
            # It appears under its name when all of it is there.
            aside.rename(to)
        except OSError as error:
            raise FileNotWritten(path=str(to), reason=error.strerror or str(error)) from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        counts = {
            "conversations": len(archive.conversations),
            "facts": len(archive.facts),
            "lessons": len(archive.lessons),
            "documents": documents,
        }
        if as_json:
            write_json({"folder": str(to), **counts})
        else:
            write(session.catalogue.text("command.members.export.done", folder=to, **counts))
        return 0


def _write_pages(session: Session, archive: Archive, folder: Path) -> None:
    from memory.archives import file_names
    from memory.whole_files import write_new

    words, chats = session.catalogue, session.memory.chats
    pages = folder / "conversations"
    pages.mkdir(mode=0o700)
    named = (f"{time.strftime('%Y-%m-%d', time.localtime(c.created_at))} {c.title}" for c in archive.conversations)
    for chat, name in zip(archive.conversations, file_names(named), strict=True):
        write_new(pages / f"{name}.md", whole_page(words, chat, chats.path(chat.id), chats.messages(chat.id)))
    write_new(folder / "facts.md", _facts_page(words, archive))
    write_new(folder / "lessons.md", _lessons_page(words, archive))
    write_new(folder / "README.md", words.text("command.members.export.page", name=session.member.name))


def _take_documents(session: Session, folder: Path) -> int:
    """Write what the member added of documents; how many there are."""
    from memory.archives import file_names
    from memory.documents.taken_along import documents_of, take_along
    from memory.exports import line
    from memory.whole_files import write_new

    papers, files = session.memory.papers, folder / "documents"
    files.mkdir(mode=0o700)
    found = documents_of(session.member.id, (session.household.documents, papers.shelf))
    names = file_names(Path(each.name).stem for each in found)
    taken = list(take_along(found, names, papers.graph, files))
    write_new(folder / "documents.jsonl", (line(each.as_json()) for each in taken))
    write_new(folder / "documents.md", _documents_page(session.catalogue, taken))
    return len(taken)


def _documents_page(words: Catalogue, documents: Sequence[TakenDocument]) -> str:
    from app.graph_words import one_line, source_text, statement_text

    parts = [f"# {words.text('command.members.export.documents')}\n"]
    for document in documents:
        parts.append(f"## {one_line(document.state.name)}\n")
        if document.file is None:
            parts.append(f"{words.text('command.members.export.gone')}\n")
        for said in document.said:
            here = [each for each in said.evidence if each.document == document.state.id]
            parts.append(f"- {statement_text(said, words)}{source_text(here, words)}")
        parts.append("")
    return "\n".join(parts)


def _facts_page(words: Catalogue, archive: Archive) -> str:
    parts = [f"# {words.text('command.members.export.facts')}\n"]
    for fact in archive.facts:
        notes = [moment(fact.created_at), words.text(f"command.{fact.visibility}")]
        if fact.forgotten_at is not None:
            notes.append(words.text("command.members.export.forgotten", when=moment(fact.forgotten_at)))
        elif fact.valid_to is not None:
            notes.append(words.text("command.members.export.until", when=moment(fact.valid_to)))
        quote = f"\n  > {' '.join(fact.quote.split())}" if fact.quote and fact.quote != fact.text else ""
        parts.append(f"- {fact.text} ({' · '.join(notes)}){quote}")
    return "\n".join(parts) + "\n"


def _lessons_page(words: Catalogue, archive: Archive) -> str:
    parts = [f"# {words.text('command.members.export.lessons')}\n"]
    for lesson in archive.lessons:
        names = (f"command.{lesson.visibility}", f"command.lessons.sources.{lesson.source}")
        notes = [moment(lesson.created_at), *(words.text(name) for name in names)]
        notes.append(words.text(f"command.lessons.states.{lesson.status}"))
        parts.append(f"## {' '.join(lesson.question.split())}\n\n{' · '.join(notes)}\n")
        for kind, answer in (("chosen", lesson.chosen), ("rejected", lesson.rejected)):
            if answer:
                parts.append(f"**{words.text(f'command.members.export.{kind}')}:** {answer}\n")
    return "\n".join(parts)
