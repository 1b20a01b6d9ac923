"""The files of a household in which recall looks, each with what makes the vectors that it lacks."""

from __future__ import annotations

from configs.sections.recall import MeaningSettings
from memory.candidates import Place
from memory.database import Database
from memory.meaning.embedder import Embedder, MakesVectors, installed
from memory.meaning.keeper import VectorKeeper
from memory.meaning.meaning import Meaning
from memory.recall_index import RecallIndex
from memory.wording import Wordings


class Places:
    """``meaning``: None where no vectors can be made. ``makes_vectors``: in the place of the package."""

    def __init__(self, wordings: Wordings, settings: MeaningSettings, makes_vectors: MakesVectors | None) -> None:
        self._settings = settings
        self._keepers: list[VectorKeeper] = []
        if makes_vectors is None and settings.enabled and installed():
            makes_vectors = Embedder(settings)
        self.meaning = None if makes_vectors is None else Meaning(makes_vectors, wordings, settings)

    def add(self, index: RecallIndex) -> Place:
        """A file that was opened."""
        if self.meaning is None:
            return Place(index, None)
        keeper = VectorKeeper(index, self.meaning, self._settings)
        self._keepers.append(keeper)
        return Place(index, keeper)

    def finish(self) -> None:
        """Make all vectors that the open files lack, now. Raises what a database raises."""
        for keeper in self._keepers:
            keeper.finish()

    def leave(self, database: Database) -> None:
        """Make none for this file any more: it is closed."""
        for keeper in [each for each in self._keepers if each.keeps(database)]:
            keeper.close()
            self._keepers.remove(keeper)

    def close(self) -> None:
        """Make no more of them."""
        for keeper in self._keepers:
            keeper.close()
        if self.meaning is not None:
            self.meaning.close()
