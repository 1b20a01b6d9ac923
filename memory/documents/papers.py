"""What one member's documents and the household's say, as that member may see it."""

from __future__ import annotations

from configs.sections.documents import DocumentsSettings
from memory.clock import Clock
from memory.database import Database
from memory.documents.shelf import Shelf
from memory.graph.look import Graph
from memory.graph.recall import GraphRecall
from memory.visibility import Visibility


class Papers:
    """``shelf``: their own documents; ``graph`` and ``recall``: of those and of the household's; never of another's."""

    def __init__(self, own: Database, family: Database, settings: DocumentsSettings, clock: Clock) -> None:
        seen: dict[Visibility, Database] = {"shared": family, "private": own}
        self.shelf = Shelf(own, "private", settings, clock)
        self.graph = Graph(seen)
        self.recall = GraphRecall(seen, settings)
