"""Conversations as Enlace writes them (``memory/exports.py``): every message with all that is known of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from memory.chats import ChatMessage, Conversation, Role, State
from memory.imports.told import Wrong, objects, required, seconds, text_of

_OWN_ID: Final = re.compile("[0-9a-f]{32}")
_RATINGS: Final = (-1, 0, 1)


@dataclass(frozen=True)
class Whole:
    """A conversation with its messages, parents first."""

    conversation: Conversation
    messages: tuple[ChatMessage, ...]


def recognises(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a conversation of Enlace's."""
    return isinstance(entry.get("messages"), list) and "deleted_at" in entry and "created_at" in entry


def read(entry: Mapping[str, Any]) -> Whole:
    """Raises Wrong."""
    id_ = _own_id(entry, "id")
    created = _moment(entry, "created_at")
    deleted = None if entry.get("deleted_at") is None else _moment(entry, "deleted_at")
    title = text_of(entry.get("title"), "title")
    conversation = Conversation(id_, title, created, seconds(entry.get("updated_at")) or created, deleted)
    messages: dict[str, ChatMessage] = {}
    for said in objects(entry["messages"]):
        message = _message(said, id_)
        if message.parent_id is not None and message.parent_id not in messages:
            raise Wrong("wrong_type", field="parent_id")
        messages.setdefault(message.id, message)
    return Whole(conversation, tuple(messages.values()))


def _message(said: Mapping[str, Any], conversation_id: str) -> ChatMessage:
    meta = said.get("meta", {})
    if not isinstance(meta, dict):
        raise Wrong("wrong_type", field="meta")
    role: Role = _one_of(said, "role", get_args(Role))
    state: State = _one_of(said, "state", get_args(State))
    rating: int = _one_of(said, "rating", _RATINGS)
    return ChatMessage(
        _own_id(said, "id"),
        conversation_id,
        None if said.get("parent_id") is None else _own_id(said, "parent_id"),
        role,
        text_of(said.get("content"), "content"),
        state,
        _moment(said, "created_at"),
        text_of(said.get("snapshot"), "snapshot") or None,
        meta,
        rating,
    )


def _one_of(said: Mapping[str, Any], name: str, known: Sequence[Any]) -> Any:
    """The value of a field, which must be one of ``known``. Raises Wrong."""
    if name not in said:
        raise Wrong("missing", field=name)
    if isinstance(said[name], dict | list) or said[name] not in known:
        raise Wrong("wrong_type", field=name)
    return said[name]


def _own_id(entry: Mapping[str, Any], name: str) -> str:
    found = required(entry, name)
    if not _OWN_ID.fullmatch(found):
        raise Wrong("wrong_type", field=name)
    return found


def _moment(entry: Mapping[str, Any], name: str) -> float:
    found = seconds(entry.get(name))
    if found is None:
        raise Wrong("missing" if name not in entry else "wrong_type", field=name)
    return found
