"""When the documents are read in a night: once, before the training, where there are any."""

from __future__ import annotations

import json
from collections.abc import Callable

from configs.errors import EnlaceError
from configs.home import Home
from configs.sections.night import NightSettings
from memory.household import Household
from memory.whole_files import write_whole
from trainer.night.conditions import Reason

# What keeps a training from beginning and says nothing about the documents.
_OF_TRAININGS = frozenset({"few_pairs", "tried_lately", "claimed"})


class DocumentsPhase:
    """One home's. When it was done last is in a file of the home's night; ``clock``: seconds since 1970."""

    def __init__(self, home: Home, settings: NightSettings, household: Household, clock: Callable[[], float]) -> None:
        self._record = home.night / "documents.json"
        self._settings = settings
        self._household = household
        self._clock = clock

    def due(self, reasons: tuple[Reason, ...]) -> bool:
        """Whether it is to begin now; ``reasons``: what keeps a training from it."""
        if {reason.code for reason in reasons} - _OF_TRAININGS or not self._had_its_rest():
            return False
        return any(self._sources())

    def note_begun(self) -> None:
        """Remember when it began. Raises FileNotWritten."""
        self._write({"began_at": self._clock()})

    def note_ended(self) -> None:
        """Remember that it came to its end, which is enough for one night. Raises FileNotWritten."""
        self._write({"began_at": self._clock(), "ended_at": self._clock()})

    def _had_its_rest(self) -> bool:
        try:
            told = json.loads(self._record.read_text(encoding="utf-8"))
            ended = "ended_at" in told
            passed = self._clock() - float(told["ended_at" if ended else "began_at"])
        except (OSError, ValueError, KeyError, TypeError):
            return True
        # One that was killed is gone on with a little later; a clock that was set back keeps nobody waiting.
        rest = self._settings.retry_longest_seconds if ended else self._settings.retry_seconds
        return not 0 <= passed < rest

    def _sources(self) -> list[bool]:
        """Whether anybody has added something, file by file."""
        found = [bool(self._household.documents.sources.list())]
        for member in self._household.members.list():
            try:
                found.append(bool(self._household.member(member.id).papers.shelf.sources.list()))
            except EnlaceError:
                # A member who keeps their file shut has their documents read when they open it.
                found.append(False)
        return found

    def _write(self, record: dict[str, float]) -> None:
        self._record.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(self._record, json.dumps(record))
