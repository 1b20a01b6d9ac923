"""A shelf of the family's with a folder that is watched, and a worker that reads by the rules in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.settings import Settings
from memory.documents.reader import Reader
from memory.documents.shelf import Shelf
from memory.household import Household
from memory.members import Member
from trainer.reading.worker import ReadingWorker


class Desk:
    """Writes files into a watched folder and has them read."""

    def __init__(self, household: Household, settings: Settings, member: Member, folder: Path) -> None:
        self.household = household
        self.settings = settings
        self.member = member
        self.folder = folder
        self.shelf: Shelf = household.documents
        self.shelf.sources.add(folder, member.id)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self) -> ReadingWorker:
        worker = ReadingWorker(self.household, self.settings, [self.member.id], lambda: False, lambda: None, None)
        worker.by_rules()
        return worker

    def said(self) -> set[tuple[str, str, str]]:
        """All that is in force, of everybody that the member may see."""
        graph = self.household.member(self.member.id).papers.graph
        found = set()
        for node in graph.nodes(most=1000):
            for each in graph.statements(node):
                last = each.object if isinstance(each.object, str) else each.object.name
                found.add((each.subject.name, each.predicate, last))
        return found

    def states(self) -> dict[str, str]:
        return {each.name: each.state for each in self.shelf.states.list()}

    def problem(self, name: str) -> tuple[str | None, dict[str, object]]:
        (found,) = (each for each in self.shelf.states.list() if each.name == name)
        return found.problem, dict(found.facts)

    def reads(self) -> list[tuple[str, str]]:
        """The ledger: sha256 and extractor of every reading, as often as it is there."""
        rows = self.shelf.database.rows(
            "SELECT d.sha256, r.extractor FROM document_reads r JOIN documents d ON d.seq = r.document"
        )
        return [(row["sha256"], row["extractor"]) for row in rows]


@pytest.fixture
def desk(household: Household, settings: Settings, ana: Member, tmp_path: Path) -> Desk:
    folder = tmp_path / "papers"
    folder.mkdir()
    return Desk(household, settings, ana, folder)


@pytest.fixture
def reader(settings: Settings) -> Iterator[Reader]:
    with Reader(settings.memory.documents) as opened:
        yield opened
