"""What is put before the model: stable text first, changing text last, so that the engine reuses what it has read.

Order: the system prompt, the conversation so far, recalled lessons, and the question with recalled facts and tool
results over it. The forms were chosen by experiment (``docs/decisions/recalled-lessons.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from configs.sections.assistant import Form
from engine.messages import Message, under
from memory.chats import ChatMessage
from memory.facts import Fact
from memory.lessons import Lesson


@dataclass(frozen=True)
class Exchange:
    """One earlier question and its answer."""

    question: str
    answer: str

    @property
    def size(self) -> int:
        """Bytes of text."""
        return len(self.question.encode()) + len(self.answer.encode())


@dataclass(frozen=True)
class Material:
    """Everything that one prompt is made of."""

    system_prompt: str
    question: str
    history: tuple[Exchange, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    facts: tuple[Fact, ...] = ()
    tool_text: str = ""


def messages(material: Material, form: Form) -> list[Message]:
    """The conversation as the engine takes it; ``form`` is how lessons are put in it."""
    found = [Message("system", material.system_prompt)]
    for exchange in material.history:
        found += [Message("user", exchange.question), Message("assistant", exchange.answer)]
    over = [fact.text for fact in material.facts]
    if form != "line":
        found += [Message(role, fact.text) for fact in material.facts for role in ("user", "assistant")]
    # The best lesson last, next to the question.
    for lesson in reversed(material.lessons):
        if form != "line":
            found += [Message("user", lesson.question), Message("assistant", lesson.chosen)]
        if form != "turns":
            over.append(lesson.chosen)
    if material.tool_text:
        over.append(material.tool_text)
    return [*found, Message("user", under(over, material.question))]


def exchanges(path: Sequence[ChatMessage]) -> tuple[Exchange, ...]:
    """The questions of a conversation that have an answer, with it; what failed before its first word is left out."""
    found = []
    for question, answer in pairwise(path):
        if question.role == "user" and answer.role == "assistant" and answer.content.strip():
            found.append(Exchange(question.content, answer.content))
    return tuple(found)


def text_size(prompt: Sequence[Message]) -> int:
    """Bytes of text in a prompt."""
    return sum(len(message.content.encode()) for message in prompt)
