"""What happens in one turn, in the order in which it happens.

``Started`` comes first, once the question and an empty answer are on disk. Then, each where it applies: ``Queued``,
``Trimmed``, ``Recalled``, ``ToolCalled`` and ``ToolReturned``, ``Thinking``, ``Token``s, ``Remembered``, ``Sources``;
and last, always, ``Done`` or ``Failed``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from configs.errors import EnlaceError
    from engine.answers import Usage
    from memory.facts import Fact
    from memory.recall import RecalledLesson
    from tools.registry import Source

State = Literal["complete", "stopped", "failed"]


@dataclass(frozen=True)
class Started:
    """The question is stored and an answer is begun; ``snapshot`` is the one that will write it."""

    conversation_id: str
    question_id: str
    answer_id: str
    snapshot: str


@dataclass(frozen=True)
class Recalled:
    """The lessons and facts that were put before the model. Not sent when there are none."""

    lessons: tuple[RecalledLesson, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Remembered:
    """What the member said was kept as ``facts``, or made some fall (``fell``). ``asked``: they asked for it."""

    facts: tuple[Fact, ...]
    fell: tuple[Fact, ...] = ()
    asked: bool = False


@dataclass(frozen=True)
class ToolCalled:
    """A tool is about to run."""

    name: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class ToolReturned:
    """What the tool gave: text and sources, or the error that it ended in."""

    name: str
    text: str
    sources: tuple[Source, ...] = ()
    error: EnlaceError | None = None


@dataclass(frozen=True)
class Trimmed:
    """The conversation outgrew the model's context: its ``turns`` oldest messages were left out."""

    turns: int


@dataclass(frozen=True)
class Queued:
    """The engine answers as many as it can: this question is the ``place``th of those that wait."""

    place: int


@dataclass(frozen=True)
class Thinking:
    """The model thinks before it answers; what it thinks is shown and kept nowhere. Sent once in a turn."""


@dataclass(frozen=True)
class Token:
    """The next piece of the answer, whole characters only."""

    text: str


@dataclass(frozen=True)
class Sources:
    """The numbered sources of this answer, exactly those that a tool returned."""

    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Done:
    """The answer is stored. ``text`` is all of it; it may differ from the tokens (citations are added at the end)."""

    answer_id: str
    text: str
    usage: Usage | None
    lessons_used: int
    state: State
    facts_used: int = 0
    sources: tuple[Source, ...] = field(default=())


@dataclass(frozen=True)
class Failed:
    """The answer could not be finished; what had been written is stored with the state ``failed``."""

    error: EnlaceError
    answer_id: str | None


Event = (
    Started
    | Recalled
    | Remembered
    | ToolCalled
    | ToolReturned
    | Trimmed
    | Queued
    | Thinking
    | Token
    | Sources
    | Done
    | Failed
)
