"""Conversations as JSON Lines that ``memory/imports`` reads again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memory.chats import ChatMessage, Conversation


def conversation_object(conversation: Conversation, messages: Iterable[ChatMessage]) -> dict[str, Any]:
    """A conversation and all its messages, in the order in which they were stored."""
    return {**vars(conversation), "messages": [vars(message) for message in messages]}


def conversation_line(conversation: Conversation, messages: Iterable[ChatMessage]) -> str:
    """The same on one line."""
    return line(conversation_object(conversation, messages))


def line(value: Mapping[str, Any]) -> str:
    """An object as a line of JSON."""
    return json.dumps(value, ensure_ascii=False) + "\n"
