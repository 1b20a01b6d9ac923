"""``enlace chats``: a member's conversations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, LimitOption, MemberOption, YesOption, confirm, find, group, moment
from app.commands.output import write, write_json, write_table

if TYPE_CHECKING:
    from app.session import Session
    from memory.chats import ChatMessage, Conversation

ChatArgument = Annotated[str, typer.Argument(help="command.chats.reference")]
_MANY = 1_000_000


def register(commands: typer.Typer) -> None:
    """Add the group ``chats``."""
    chats = group("chats")
    chats.command("list", help="command.chats.list")(list_chats)
    chats.command("show", help="command.chats.show")(show)
    chats.command("search", help="command.chats.search")(search)
    chats.command("delete", help="command.chats.delete")(delete)
    chats.command("restore", help="command.chats.restore")(restore)
    chats.command("export", help="command.chats.export")(export)
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
        conversation = _find(session, reference)
        path = session.memory.chats.path(conversation.id)
        if as_json:
            write_json({**vars(conversation), "messages": [vars(message) for message in path]})
        else:
            write(_markdown(session, conversation, path), end="")
        return 0


def search(
    text: Annotated[str, typer.Argument(help="command.chats.words")],
    member: MemberOption = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> int:
    """Messages that hold the words."""
    with open_session(member=member) as session:
        hits = session.memory.chats.search(text, limit)
        if as_json:
            write_json(
                [
                    {
                        "conversation": hit.conversation.id,
                        "title": hit.conversation.title,
                        "message": hit.message.id,
                        "role": hit.message.role,
                        "snippet": hit.snippet,
                        "score": hit.score,
                        "created_at": hit.message.created_at,
                    }
                    for hit in hits
                ]
            )
            return 0
        if not hits:
            write(session.catalogue.text("command.chats.none_found"))
            return 0
        heads = [session.catalogue.text(f"command.chats.heads.{head}") for head in ("when", "title", "text")]
        write_table(heads, [(moment(h.message.created_at), h.conversation.title, h.snippet) for h in hits])
        return 0


def delete(reference: ChatArgument, member: MemberOption = None, yes: YesOption = False) -> int:
    """Take a conversation off the lists; ``restore`` brings it back."""
    with open_session(member=member) as session:
        conversation = _find(session, reference)
        confirm(session.catalogue.text("command.chats.sure", title=conversation.title), yes=yes)
        session.memory.chats.delete(conversation.id)
        write(session.catalogue.text("command.chats.deleted_one", title=conversation.title, id=conversation.id))
        return 0


def restore(reference: ChatArgument, member: MemberOption = None) -> int:
    """Bring back a deleted conversation."""
    with open_session(member=member) as session:
        conversation = _find(session, reference, deleted=True)
        session.memory.chats.restore(conversation.id)
        write(session.catalogue.text("command.chats.restored", title=conversation.title))
        return 0


def export(
    reference: Annotated[str | None, typer.Argument(help="command.chats.reference_or_all")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="command.options.output")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """One conversation or all of them, as Markdown or JSON, every branch of them in JSON."""
    from memory.whole_files import write_new

    with open_session(member=member) as session:
        chats = session.memory.chats
        chosen = [_find(session, reference)] if reference else chats.list(_MANY)
        if as_json:
            content = [{**vars(c), "messages": [vars(m) for m in chats.messages(c.id)]} for c in chosen]
            if output is None:
                write_json(content)
                return 0
            import json

            text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        else:
            text = "\n".join(_markdown(session, c, chats.path(c.id)) for c in chosen)
        if output is None:
            write(text, end="")
        else:
            write_new(output, text)
            write(session.catalogue.count("command.chats.exported", len(chosen), path=output))
        return 0


def _find(session: Session, reference: str, *, deleted: bool = False) -> Conversation:
    from memory.errors import ConversationUnknown

    everything = session.memory.chats.list(_MANY, deleted=deleted)
    return find(everything, reference, lambda entry: entry.id, lambda wrong: ConversationUnknown(id=wrong))


def _markdown(session: Session, conversation: Conversation, path: list[ChatMessage]) -> str:
    words = session.catalogue
    parts = [f"# {conversation.title}\n"]
    for message in path:
        who = words.text("command.chats.you") if message.role == "user" else "Enlace"
        state = "" if message.state == "complete" else f" · {words.text(f'command.chats.states.{message.state}')}"
        snapshot = f" · {message.snapshot}" if message.snapshot else ""
        parts.append(f"## {who}{snapshot} · {moment(message.created_at)}{state}\n\n{message.content}\n")
    return "\n".join(parts)
