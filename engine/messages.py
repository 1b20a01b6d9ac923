"""One turn of a conversation, as every room passes it to the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Message:
    """Who speaks and what they say. ``content`` is plain text: nothing in it is ever read as a control token."""

    role: Role
    content: str
