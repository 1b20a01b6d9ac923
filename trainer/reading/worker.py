"""Reading what waits: by the rules first, then by the model, until it is done, told to stop, or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from configs.errors import EnlaceError
from configs.settings import Settings
from memory.documents.claims import Claim, ClaimLost
from memory.documents.errors import DocumentProblem
from memory.documents.extracting.checking import Check
from memory.documents.extracting.extract import RULES_VERSION, extract
from memory.documents.extracting.modelled import MODEL_VERSION, believed, questions
from memory.documents.found import Extraction, Named, Reading, Said
from memory.documents.reader import Reader
from memory.documents.shelf import Shelf
from memory.household import Household
from trainer.reading.asking import Asking

# What an extractor makes of a document; None where there was no time for all of it.
Found = Callable[[Claim, Reading], Extraction | None]


@dataclass
class Counts:
    """What one run did: documents read by the rules and by the model, and those that could not be."""

    read: int = 0
    asked: int = 0
    problems: int = 0


class ReadingWorker:
    """Of one home: the family's documents and those of ``members`` (ids).

    ``wished``: whether somebody wishes it to end; ``rest``: called between documents, returns when nobody is answered.

    ``seconds``: how long it may take, None for as long as there is something to read.
    """

    def __init__(
        self,
        household: Household,
        settings: Settings,
        members: list[str],
        wished: Callable[[], bool],
        rest: Callable[[], None],
        seconds: float | None,
    ) -> None:
        self._settings = settings
        self._wished = wished
        self._rest = rest
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.counts = Counts()
        self.skipped: list[str] = []
        self._shelves = [household.documents]
        for member in members:
            try:
                self._shelves.append(household.member(member).papers.shelf)
            except EnlaceError as error:
                # A member who keeps their file shut has their documents read when they open it.
                self.skipped.append(error.code)

    def by_rules(self) -> None:
        """See what is there, and read all of it that the rules have not read."""
        for shelf in self._shelves:
            shelf.placing.look()
        with Reader(self._settings.memory.documents) as reader:
            for shelf in self._shelves:
                self._each(shelf, reader, RULES_VERSION, None, lambda claim, reading: extract(reading))

    def by_model(self, asking: Asking) -> None:
        """Have the model look at what it has not looked at."""
        with Reader(self._settings.memory.documents) as reader:
            for shelf in self._shelves:
                self._each(shelf, reader, MODEL_VERSION, RULES_VERSION, self._asked(shelf, asking))

    def wants_model(self) -> bool:
        """Whether there is something for it to look at."""
        return any(shelf.claims.waiting(MODEL_VERSION, RULES_VERSION) for shelf in self._shelves)

    def left(self) -> int:
        """How many documents wait that could be read by the rules."""
        return sum(shelf.claims.waiting(RULES_VERSION) for shelf in self._shelves)

    def stopped(self) -> bool:
        """Whether to end now."""
        return self._wished() or (self._deadline is not None and time.monotonic() >= self._deadline)

    def _each(
        self,
        shelf: Shelf,
        reader: Reader,
        extractor: str,
        after: str | None,
        found: Found,
    ) -> None:
        passed: set[int] = set()
        while not self.stopped():
            self._rest()
            claim = shelf.claims.claim(extractor, after, passed)
            if claim is None:
                return
            # One that stays to be read is not tried again and again in one night.
            passed.add(claim.document)
            try:
                self._one(shelf, reader, claim, found)
            except ClaimLost:
                continue
            except BaseException:
                shelf.claims.release(claim)
                raise

    def _one(self, shelf: Shelf, reader: Reader, claim: Claim, found: Found) -> None:
        try:
            content = shelf.placing.read(claim)
            if content is None:
                # What it holds now is another document, which is claimed next.
                shelf.claims.release(claim)
                return
            reading = reader.read(claim.format, content.content)
        except DocumentProblem as problem:
            shelf.fail(claim, problem)
            self.counts.problems += 1
            return
        extraction = found(claim, reading)
        if extraction is None:
            shelf.claims.release(claim)
            return
        shelf.finish(claim, reading, extraction)
        if claim.extractor == RULES_VERSION:
            self.counts.read += 1
        else:
            self.counts.asked += 1

    def _asked(self, shelf: Shelf, asking: Asking) -> Found:
        def found(claim: Claim, reading: Reading) -> Extraction | None:
            """What the model adds to what the rules found; None where there was no time for all of it."""
            check, most = Check(reading), self._settings.memory.documents.model_sentences
            named: list[Named] = []
            said: list[Said] = []
            for question in islice(questions(reading, extract(reading)), most):
                if self.stopped():
                    return None
                shelf.claims.renew(claim)
                answers = asking.both(question)
                if answers is None:
                    return None
                more = check.passed(believed(question, *answers))
                named += more.named
                said += more.said
            return Extraction(tuple(named), tuple(said))

        return found
