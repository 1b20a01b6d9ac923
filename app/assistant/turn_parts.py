"""What all turns of one assistant share: memory, engine, tools, settings and texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.assistant.asking import Asker
from app.catalogue import Catalogue
from configs.settings import Settings
from engine.answers import PrivateAdapter
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
