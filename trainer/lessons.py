"""A lesson as the trainer takes it from the household, and which ones it leaves out, by name and reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
        messages = [{"role": message.role, "content": message.content} for message in self.messages]
        return {"id": self.id, "messages": messages, "chosen": self.chosen, "rejected": self.rejected}


@dataclass(frozen=True)
class Dropped:
    """A lesson that is not trained. ``reason``: unchanged, empty, or too_long."""

    id: str
    reason: str
    question: str


def lesson_from_json(value: dict[str, Any]) -> TrainingLesson:
    """The reverse of ``as_json``."""
    messages = tuple(Message(message["role"], message["content"]) for message in value["messages"])
    return TrainingLesson(value["id"], messages, value["chosen"], value["rejected"])


def sorted_out(lessons: Iterable[Lesson]) -> tuple[list[TrainingLesson], list[Dropped]]:
    """The lessons that can be trained, and those that cannot, each with its reason."""
    kept, dropped = [], []
    for lesson in lessons:
        messages = tuple(Message(_role(m["role"]), m["content"]) for m in lesson.messages)
        chosen, rejected = lesson.chosen.strip(), lesson.rejected.strip()
        if not chosen or not messages or not messages[-1].content.strip():
            dropped.append(Dropped(lesson.id, "empty", messages[-1].content if messages else ""))
        elif chosen == rejected:
            dropped.append(Dropped(lesson.id, "unchanged", messages[-1].content))
        else:
            kept.append(TrainingLesson(lesson.id, messages, chosen, rejected))
    return kept, dropped


def _role(name: str) -> Any:
    """A role as engine.messages types it; memory has checked that it is one."""
    return name
