"""What all turns of one assistant share: memory, engine, tools, settings and texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.assistant.asking import Asker
from app.assistant.events import Event, Recalled, Trimmed
from app.catalogue import Catalogue
from configs.settings import Settings
from engine.answers import PrivateAdapter, Usage
from engine.interface import Engine
from memory.household import MemberMemory
from memory.members import Member
from tools.registry import Registry, ToolContext


@dataclass
class TurnParts:
    """What all turns of one assistant share."""

    memory: MemberMemory
    member: Member
    engine: Engine
    tools: Registry
    context: ToolContext
    settings: Settings
    catalogue: Catalogue
    private: Callable[[], PrivateAdapter | None]

    def __post_init__(self) -> None:
        self.asker = Asker(self.engine, self.settings.assistant, self.settings.engine.context_size, self.private)

    def system_prompt(self) -> str:
        """The household's, and after it how this member wants to be spoken to: the beginning is the same for all."""
        prompt, manner = self.settings.assistant.system_prompt, self.memory.voice.get()
        return f"{prompt}\n{self.catalogue.text('assistant.voice', manner=manner)}" if manner else prompt


def measures(usage: Usage | None) -> dict[str, float]:
    """What is kept with an answer of how it was written; nothing where no model wrote it."""
    if usage is None:
        return {}
    return {
        "prompt_tokens": usage.prompt_tokens,
        "answer_tokens": usage.answer_tokens,
        "ttft_ms": round(usage.ttft_ms, 1),
        "tokens_per_second": round(usage.tokens_per_second, 1),
        "context_size": usage.context_size,
    }


def accepted(left_out: int, recalled: Recalled | None) -> list[Event]:
    """What is told once the engine has taken the prompt."""
    found: list[Event] = [Trimmed(left_out)] if left_out else []
    return [*found, recalled] if recalled else found
