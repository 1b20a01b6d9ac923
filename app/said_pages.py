"""What was said, as a page of Markdown: the branch in use, then every other one from where it leaves it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.chats import ChatMessage, Conversation

_BEGINNING: Final = 60  # characters by which a message is known again


def conversation_page(words: Catalogue, conversation: Conversation, path: Iterable[ChatMessage]) -> str:
    """One branch of a conversation under its title."""
    return "\n".join([f"# {conversation.title}\n", *(_paragraph(words, message) for message in path)])


def whole_page(
    words: Catalogue, conversation: Conversation, path: Sequence[ChatMessage], messages: Sequence[ChatMessage]
) -> str:
    """A conversation with all its branches. ``path``: the one in use; ``messages``: all of them, parents first."""
    parts = [conversation_page(words, conversation, path)]
    told = {message.id for message in path}
    by_id = {message.id: message for message in messages}
    followed = {message.parent_id for message in messages}
    for end in messages:
        if end.id in followed or end.id in told:
            continue
        branch = [end]
        while (parent := branch[-1].parent_id) is not None and parent not in told:
            branch.append(by_id[parent])
        told.update(message.id for message in branch)
        after = None if parent is None else by_id[parent]
        heading = "branch_from_start" if after is None else "branch_from"
        facts = {} if after is None else {"when": _moment(after.created_at), "text": _beginning(after.content)}
        parts.append(f"# {words.text(f'command.chats.{heading}', **facts)}\n")
        parts += [_paragraph(words, message) for message in reversed(branch)]
    return "\n".join(parts)


def _paragraph(words: Catalogue, message: ChatMessage) -> str:
    parts = [_who(words, message)]
    if message.snapshot:
        parts.append(message.snapshot)
    parts.append(_moment(message.created_at))
    if message.state != "complete":
        parts.append(words.text(f"command.chats.states.{message.state}"))
    if message.rating:
        parts.append(words.text(f"command.chats.rated.{'good' if message.rating > 0 else 'bad'}"))
    return f"## {' · '.join(parts)}\n\n{message.content}\n"


def _who(words: Catalogue, message: ChatMessage) -> str:
    if message.role == "user":
        return words.text("command.chats.you")
    elsewhere = message.meta.get("imported", {})
    return str(elsewhere.get("model") or elsewhere.get("from") or "Enlace")


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _BEGINNING else line[: _BEGINNING - 1] + "…"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
