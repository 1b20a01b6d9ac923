"""Where in the conversations somebody wants to be taken from a list."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass(frozen=True)
class Place:
    """A message, or a conversation's end."""

    conversation_id: str
    message_id: str | None = None


class Wanted(Message):
    """A side wants the chat to show a place."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
