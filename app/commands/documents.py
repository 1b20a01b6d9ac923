"""``enlace documents``: files and folders that Enlace reads, and how it stands with each document."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, YesOption, confirm, find, group, moment
from app.commands.output import write, write_json, write_table

if TYPE_CHECKING:
    from app.session import Session

SharedOption = Annotated[bool, typer.Option("--shared/--private", help="command.documents.shared")]


def register(commands: typer.Typer) -> None:
    """Add the group ``documents``."""
    documents = group("documents")
    documents.command("add", help="command.documents.add")(add)
    documents.command("list", help="command.documents.list")(list_sources)
    documents.command("status", help="command.documents.status")(status)
    documents.command("read", help="command.documents.read")(read)
    documents.command("remove", help="command.documents.remove")(remove)
    commands.add_typer(documents)


def add(
    path: Annotated[Path, typer.Argument(help="command.documents.path")],
    shared: SharedOption = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Have a file or folder read now, and whenever it changes."""
    from app.documents import add_documents, read_documents

    with open_session(member=member) as session:
        source = add_documents(session, path, shared=shared)
        done = read_documents(session)
        if as_json:
            write_json({**asdict(source), **done})
            return 0
        words = session.catalogue
        write(words.text(f"command.documents.added.{source.kind}", path=source.path))
        _tell_done(session, done)
        return 0


def read(
    model: Annotated[bool, typer.Option("--model", help="command.documents.model")] = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Read now what is new or changed."""
    from app.documents import read_documents

    with open_session(member=member) as session:
        done = read_documents(session, model=model)
        if as_json:
            write_json(done)
        else:
            _tell_done(session, done)
        return 0


def list_sources(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """What is watched."""
    from app.documents import all_sources

    with open_session(member=member) as session:
        sources = all_sources(session)
        if as_json:
            write_json([asdict(source) for source in sources])
            return 0
        words = session.catalogue
        if not sources:
            write(words.text("command.documents.none"))
            return 0
        heads = [words.text(f"command.documents.heads.{head}") for head in ("number", "since", "seen_by", "path")]
        write_table(
            heads,
            [
                (number, moment(each.added_at), words.text(f"command.{each.visibility}"), each.path)
                for number, each in enumerate(sources, 1)
            ],
        )
        return 0


def status(
    member: MemberOption = None,
    everything: Annotated[bool, typer.Option("--all", help="command.documents.all")] = False,
    as_json: JsonOption = False,
) -> int:
    """How it stands with every document; what is wrong with one in a sentence."""
    from app.document_story import sentences
    from app.documents import all_states

    with open_session(member=member) as session:
        states = [each for each in all_states(session) if everything or each.state != "replaced"]
        if as_json:
            write_json([{**asdict(each), "sentences": sentences(session, each)} for each in states])
            return 0
        words = session.catalogue
        if not states:
            write(words.text("command.documents.no_documents"))
            return 0
        heads = [
            words.text(f"command.documents.heads.{head}") for head in ("number", "state", "seen_by", "said", "name")
        ]
        write_table(
            heads,
            [
                (
                    number,
                    words.text(f"command.documents.states.{each.state}"),
                    words.text(f"command.{each.visibility}"),
                    each.statements,
                    each.name,
                )
                for number, each in enumerate(states, 1)
            ],
        )
        for number, each in enumerate(states, 1):
            for sentence in sentences(session, each):
                write(f"{number} · {each.name}: {sentence}")
        return 0


def remove(
    reference: Annotated[str, typer.Argument(help="command.documents.reference")],
    member: MemberOption = None,
    yes: YesOption = False,
) -> int:
    """Forget a document, or all that a folder held, and everything that was taken from it. The files stay."""
    from app.documents import all_sources, all_states, forget_document, forget_source
    from app.paths import whole_path
    from memory.documents.errors import DocumentUnknown

    with open_session(member=member) as session:
        words = session.catalogue
        named = str(whole_path(reference))
        source = next((each for each in all_sources(session) if each.path in (reference, named)), None)
        if source is not None:
            confirm(words.text("command.documents.sure_source", path=source.path), yes=yes)
            count = forget_source(session, source)
            write(words.count("command.documents.unwatched", count, path=source.path))
            return 0
        states = [each for each in all_states(session) if each.id and each.state != "replaced"]
        state = find(states, reference, lambda each: each.id, lambda wrong: DocumentUnknown(id=wrong))
        confirm(words.text("command.documents.sure", name=state.name), yes=yes)
        forget_document(session, state)
        write(words.text("command.documents.removed", name=state.name))
        return 0


def _tell_done(session: Session, done: dict[str, Any]) -> None:
    words = session.catalogue
    write(words.count("command.documents.done", done["read"]))
    if done["problems"]:
        write(words.count("command.documents.problems", done["problems"]))
    if done["problem"]:
        write(words.text("command.documents.no_model"))
