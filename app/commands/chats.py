"""``enlace chats``: a member's conversations."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.chats_export import export
from app.commands.chats_import import import_chats
from app.commands.finding import find_chat
from app.commands.forgotten import tell_forgotten
from app.commands.memory_search import hit_as_json
from app.commands.opening import open_session
from app.commands.options import (
    ForGoodOption,
    JsonOption,
    LimitOption,
    MemberOption,
    YesOption,
    confirm,
    group,
    moment,
)
from app.commands.output import remark, write, write_json, write_table
from app.said_pages import conversation_page

ChatArgument = Annotated[str, typer.Argument(help="command.chats.reference")]


def register(commands: typer.Typer) -> None:
    """Add the group ``chats``."""
    chats = group("chats")
    chats.command("list", help="command.chats.list")(list_chats)
    chats.command("show", help="command.chats.show")(show)
    chats.command("search", help="command.chats.search")(search)
    chats.command("delete", help="command.chats.delete")(delete)
    chats.command("restore", help="command.chats.restore")(restore)
    chats.command("export", help="command.chats.export")(export)
    chats.command("import", help="command.chats.import.help")(import_chats)
    commands.add_typer(chats)


def list_chats(
    member: MemberOption = None,
    limit: LimitOption = 50,
    deleted: Annotated[bool, typer.Option("--deleted", help="command.chats.deleted")] = False,
    as_json: JsonOption = False,
) -> int:
    """Conversations, the last used first."""
    with open_session(member=member) as session:
        found = session.memory.chats.list(limit, deleted=deleted)
        if as_json:
            write_json([vars(conversation) for conversation in found])
            return 0
        if not found:
            write(session.catalogue.text("command.chats.none_deleted" if deleted else "command.chats.none"))
            return 0
        heads = [session.catalogue.text(f"command.chats.heads.{head}") for head in ("number", "when", "title", "id")]
        write_table(heads, [(n, moment(c.updated_at), c.title, c.id) for n, c in enumerate(found, 1)])
        return 0


def show(reference: ChatArgument = "1", member: MemberOption = None, as_json: JsonOption = False) -> int:
    """The newest branch of a conversation."""
    with open_session(member=member) as session:
        conversation = find_chat(session, reference)
        path = session.memory.chats.path(conversation.id)
        if as_json:
            write_json({**vars(conversation), "messages": [vars(message) for message in path]})
        else:
            write(conversation_page(session.catalogue, conversation, path), end="")
        return 0


def search(
    text: Annotated[str, typer.Argument(help="command.chats.words")],
    member: MemberOption = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> int:
    """Messages that hold most of what is asked or searched for, the best first."""
    with open_session(member=member) as session:
        hits = session.memory.chats.evidence(text, limit)
        if as_json:
            write_json([hit_as_json(hit) for hit in hits])
            return 0
        if not hits:
            write(session.catalogue.text("command.chats.none_found"))
            return 0
        heads = [session.catalogue.text(f"command.chats.heads.{head}") for head in ("when", "title", "text")]
        write_table(heads, [(moment(h.message.created_at), h.conversation.title, h.snippet) for h in hits])
        return 0


def delete(
    reference: ChatArgument, member: MemberOption = None, for_good: ForGoodOption = False, yes: YesOption = False
) -> int:
    """Take a conversation off the lists, and ``restore`` brings it back; or remove it for good."""
    from app.forgetting import facts_of, forget_conversation, lessons_of

    with open_session(member=member) as session:
        words = session.catalogue
        if for_good:
            conversation = find_chat(session, reference, deleted=None)
            goes = {
                "taught": len(lessons_of(session, conversation.id)),
                "remembered": len(facts_of(session, conversation.id)),
            }
            for key, number in goes.items():
                if number:
                    remark(words.count(f"command.chats.{key}", number))
            confirm(words.text("command.chats.sure_for_good", title=conversation.title), yes=yes)
            tell_forgotten(session, forget_conversation(session, conversation.id), conversation.title)
            return 0
        conversation = find_chat(session, reference)
        confirm(words.text("command.chats.sure", title=conversation.title), yes=yes)
        session.memory.chats.delete(conversation.id)
        if remembered := len(facts_of(session, conversation.id)):
            remark(words.count("command.chats.still_remembered", remembered))
        write(words.text("command.chats.deleted_one", title=conversation.title, id=conversation.id))
        return 0


def restore(reference: ChatArgument, member: MemberOption = None) -> int:
    """Bring back a deleted conversation."""
    with open_session(member=member) as session:
        conversation = find_chat(session, reference, deleted=True)
        session.memory.chats.restore(conversation.id)
        write(session.catalogue.text("command.chats.restored", title=conversation.title))
        return 0
