"""An export into a member's conversations: all that is new of it, once, and nothing where something in it is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from configs.sections.memory import ImportSettings
from memory.chats import ChatMessage, Chats, Conversation, Role
from memory.errors import ExportEntriesWrong, ExportUnrecognised
from memory.imports.own import Whole
from memory.imports.reading import BadEntry, Tell, entries
from memory.imports.sources import Part, parts_of
from memory.imports.told import Node, Told, stable_id
from memory.text import storable
from memory.whole_files import new_file, refuse_to_replace

MOST_TOLD: Final = 20  # bad entries that are described; of an export of another kind every one is bad


@dataclass
class ImportedChats:
    """What came of an import.

    ``conversations`` that had something new, and how many ``messages``; ``known``: conversations that were there as
    they are; ``empty``: those in which nobody said anything. ``passed_over``: what people did not see (instructions,
    tools, thoughts); ``attachments``: what was sent with messages and stays where it is. ``bad``: the first of the
    ``bad_count`` entries that are no conversations.
    """

    conversations: int = 0
    messages: int = 0
    known: int = 0
    empty: int = 0
    passed_over: int = 0
    attachments: int = 0
    bad_count: int = 0
    bad: list[BadEntry] = field(default_factory=list)
    origins: Counter[str] = field(default_factory=Counter)


def import_chats(
    chats: Chats,
    path: Path,
    settings: ImportSettings,
    *,
    bad_to: Path | None = None,
    check: Tell,
    store: Tell,
) -> ImportedChats:
    """Add the conversations of an export to ``chats``, for its member alone. What is there already stays as it is.

    The export is read to its end before anything is stored; ``check`` and ``store`` are told how far both have come.
    ``bad_to``: a new file that gets the entries that are no conversations, one a line; the others are added then.
    Raises FileInTheWay, FileUnreadable, ExportTooLarge, ExportUnrecognised, ExportEntriesWrong, FileNotWritten.
    """
    if bad_to is not None:
        refuse_to_replace(bad_to)
    with parts_of(path, settings) as parts:
        _check(path, parts, settings, bad_to is not None, check)
        done = ImportedChats()
        with nullcontext() if bad_to is None else new_file(bad_to) as bad_file:
            good: list[Told | Whole] = []
            waiting = 0
            for entry in entries(parts, settings.entry_megabytes, store):
                if isinstance(entry, BadEntry):
                    _note_bad(done, entry, bad_file)
                    continue
                good.append(entry)
                waiting += len(entry.messages)
                if waiting >= settings.batch_messages:
                    _store(chats, good, done)
                    good, waiting = [], 0
            _store(chats, good, done)
        return done


def _check(path: Path, parts: list[Part], settings: ImportSettings, skip_bad: bool, tell: Tell) -> None:
    found = ImportedChats()
    good = 0
    for entry in entries(parts, settings.entry_megabytes, tell):
        if isinstance(entry, BadEntry):
            _note_bad(found, entry, None)
        else:
            good += 1
    if not good and all(each.reason in ("unrecognised", "not_object", "not_json") for each in found.bad):
        raise ExportUnrecognised(path=str(path))
    if found.bad and not skip_bad:
        raise ExportEntriesWrong(found.bad, file=str(path), count=found.bad_count)


def _note_bad(done: ImportedChats, entry: BadEntry, file: IO[bytes] | None) -> None:
    done.bad_count += 1
    if len(done.bad) < MOST_TOLD:
        done.bad.append(entry)
    if file is not None:
        file.write(b" ".join(entry.raw.splitlines()) + b"\n")


def _store(chats: Chats, good: Iterable[Told | Whole], done: ImportedChats) -> None:
    with chats.together():
        for entry in good:
            if not entry.messages:
                done.empty += 1
                continue
            messages: Sequence[ChatMessage]
            if isinstance(entry, Told):
                conversation, messages = _ours(chats, entry)
                done.passed_over += entry.passed_over
                done.attachments += sum(len(node.attachments) for node in entry.messages)
                done.origins[entry.origin] += 1
            else:
                conversation, messages = entry.conversation, entry.messages
                done.origins["enlace"] += 1
            added = chats.take_in(conversation, messages)
            done.messages += added
            done.conversations += bool(added)
            done.known += not added


def _ours(chats: Chats, told: Told) -> tuple[Conversation, list[ChatMessage]]:
    """A conversation of another assistant's as one of ours, under ids that are the same every time it is imported."""
    id_ = stable_id(told.origin, told.id)
    known: Mapping[str, ChatMessage] = {message.id: message for message in chats.messages(id_)}
    ids: dict[str, str] = {}
    messages: list[ChatMessage] = []
    for node in told.messages:
        text = _text(node)
        own = stable_id(told.origin, told.id, node.id)
        if own in known and known[own].content != storable(text):
            # It was put in other words there since: both stay, side by side.
            own = stable_id(told.origin, told.id, node.id, text)
        ids[node.id] = own
        parent = None if node.parent is None else ids[node.parent]
        at = told.created_at if node.at is None else node.at
        role: Role = "user" if node.role == "user" else "assistant"
        messages.append(
            ChatMessage(own, id_, parent, role, text, node.state, at, None, {"imported": _about(told, node)}, rating=0)
        )
    title = told.title or next((message.content for message in messages if message.role == "user"), "")
    return Conversation(id_, title, told.created_at, told.updated_at), messages


def _text(node: Node) -> str:
    """What was said; the names of what was sent where nothing was."""
    return node.text or "\n".join(f"[{name}]" for name in node.attachments)


def _about(told: Told, node: Node) -> dict[str, Any]:
    about: dict[str, Any] = {"from": told.origin}
    if node.model:
        about["model"] = node.model
    if node.attachments:
        about["attachments"] = list(node.attachments)
    return about
