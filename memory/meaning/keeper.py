"""Makes the vectors that lessons and facts lack, in a thread beside whatever else the process does."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from configs.errors import EnlaceError
from configs.sections.recall import MeaningSettings
from memory.database import Database
from memory.meaning.meaning import Meaning
from memory.recall_index import KINDS, Kind, RecallIndex


class VectorKeeper:
    """Of one file. What two processes make at once is the same, and one of them is kept."""

    def __init__(self, index: RecallIndex, meaning: Meaning, settings: MeaningSettings) -> None:
        self._index = index
        self._meaning = meaning
        self._settings = settings
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        index.want_vectors(meaning.version)

    def now(self, kind: Kind, most: int) -> int:
        """Make the vectors of at most ``most`` items of one kind; of how many. Raises what a database raises."""
        due = self._index.vectors.due(kind, most)
        texts = self._index.texts(kind, due)
        for item in [item for item in due if item not in texts]:
            # Taken back by whoever did not index: it shall not be asked for again.
            self._index.remove(kind, item)
        blobs = self._blobs(kind, list(texts.values()))
        if blobs is None:
            return 0
        with self._index.database.transaction():
            # Whoever changed one of them meanwhile has it made anew.
            still = self._index.texts(kind, texts)
            for (item, before), blob in zip(texts.items(), blobs, strict=True):
                if still.get(item) == before:
                    self._index.vectors.put(kind, item, blob, len(blob) // len(before))
        return len(texts)

    def keeps(self, database: Database) -> bool:
        """Whether it is of this file."""
        return self._index.database is database

    def keep_up(self) -> None:
        """Make those of a few lessons now, so that a correction counts in the next question; others in a thread."""
        if self.now("lesson", self._settings.at_once) == self._settings.at_once or self._index.vectors.due("fact", 1):
            self._in_background()

    def finish(self) -> None:
        """Make all that is due. Raises what a database raises."""
        for kind in KINDS:
            while self._meaning.works and self.now(kind, self._settings.batch):
                continue

    def _in_background(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="vectors", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Let the thread end after what it has in hand."""
        self._stop.set()
        with self._lock:
            if self._thread is not None:
                self._thread.join()

    def _work(self) -> None:
        while not self._stop.is_set() and self._meaning.works:
            try:
                made = sum(self.now(kind, self._settings.batch) for kind in KINDS)
            except EnlaceError:
                # A full disk or a busy file: whoever asks next begins anew, and nobody waits for this.
                return
            if not made:
                return

    def _blobs(self, kind: Kind, texts: Sequence[tuple[str, ...]]) -> list[bytes] | None:
        if not texts:
            return []
        if kind == "fact":
            return self._meaning.of_facts([text for (text,) in texts])
        return self._meaning.of_lessons([(question, answer) for question, answer in texts])
