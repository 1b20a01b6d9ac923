"""A lesson as the trainer takes it from the household, and one that it leaves out, by name and reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import TemplateBroken
from engine.messages import Message
from memory.lessons import Lesson


@dataclass(frozen=True)
class TrainingLesson:
    """One correction. ``messages`` ends with the user's question; ``rejected`` may be empty."""

    id: str
    messages: tuple[Message, ...]
    chosen: str
    rejected: str

    @property
    def question(self) -> str:
        return self.messages[-1].content

    def as_json(self) -> dict[str, Any]:
        """For the run's files; ``lesson_from_json`` reads it back."""
        messages = messages_json(self.messages)
        return {"id": self.id, "messages": messages, "chosen": self.chosen, "rejected": self.rejected}


@dataclass(frozen=True)
class Dropped:
    """A lesson that is not trained.

    ``reason``: unchanged, empty, too_long; replaced or repeated, by the later lesson ``by`` of the same question;
    contradicted, by another member's ``by``; capped, where its member taught many since the last training; stumbled,
    where a rule of the trainer fails on it, and unrenderable, where the model's chat template does: ``why`` says how.
    """

    id: str
    reason: str
    question: str
    by: str = ""
    why: str = ""


def unrenderable(lesson: str, question: str, error: TemplateBroken) -> Dropped:
    """A lesson, or a rating, that the model's chat template cannot write."""
    return Dropped(lesson, "unrenderable", question, why=str(error.facts["reason"]))


def lesson_from_json(value: dict[str, Any]) -> TrainingLesson:
    """The reverse of ``as_json``."""
    return TrainingLesson(value["id"], messages_from_json(value["messages"]), value["chosen"], value["rejected"])


def under_system(messages: Sequence[Message], system_prompt: str) -> list[Message]:
    """A conversation as the assistant sends it: under its system prompt, unless it begins with one of its own."""
    own = bool(messages) and messages[0].role == "system"
    return [*messages] if own else [Message("system", system_prompt), *messages]


def messages_of(lesson: Lesson) -> tuple[Message, ...]:
    """A household lesson's conversation as the engine takes it; memory has checked that the roles are some."""
    return messages_from_json(lesson.messages)


def messages_json(messages: Iterable[Message]) -> list[dict[str, str]]:
    """For the run's files; ``messages_from_json`` reads it back."""
    return [{"role": message.role, "content": message.content} for message in messages]


def messages_from_json(value: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """The reverse of ``messages_json``."""
    return tuple(Message(message["role"], message["content"]) for message in value)
