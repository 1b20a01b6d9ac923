"""Answers that somebody rated and nobody corrected, as the trainer takes them from the household's thumbs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.messages import Message
from memory.lessons import Lesson, same_words
from trainer.lessons import messages_from_json, messages_json, messages_of


@dataclass(frozen=True)
class Rating:
    """An answer to the last of ``messages``, and whether it was found good."""

    id: str
    messages: tuple[Message, ...]
    answer: str
    good: bool

    @property
    def question(self) -> str:
        return self.messages[-1].content

    def as_json(self) -> dict[str, Any]:
        """For the run's files; ``rating_from_json`` reads it back."""
        return {"id": self.id, "messages": messages_json(self.messages), "answer": self.answer, "good": self.good}


def rating_from_json(value: dict[str, Any]) -> Rating:
    """The reverse of ``as_json``."""
    return Rating(value["id"], messages_from_json(value["messages"]), value["answer"], value["good"])


def latest_opinions(thumbs: Iterable[Lesson]) -> list[Rating]:
    """Of thumbs (oldest first) the latest one on each answer: however often an answer was rated, it counts once."""
    latest: dict[tuple[tuple[Message, ...], str], Rating] = {}
    for thumb in thumbs:
        messages, answer = messages_of(thumb), (thumb.chosen or thumb.rejected).strip()
        if answer:
            latest[messages, same_words(answer)] = Rating(thumb.id, messages, answer, bool(thumb.chosen))
    return list(latest.values())
