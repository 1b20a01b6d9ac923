"""A run's corpus, from its sources to its shards; what is there already is not made again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from configs.pretraining.corpus import Corpus, Source
from configs.pretraining.places import Places
from trainer.corpus.errors import NoText, ShardsMissing
from trainer.corpus.helpers import helpers
from trainer.corpus.index import Index, read_index
from trainer.corpus.judging import evaluation_texts
from trainer.corpus.readers.document import Reads
from trainer.corpus.readers.sources import Place, SourceFile, files_of, stamp
from trainer.corpus.sharding import Splits, sample, write_shards
from trainer.corpus.texts import TextMaker, Texts, documents_of, read_texts
from trainer.room import room_at, write_whole
from trainer.telling import Tell
from trainer.tokenizer.errors import TokenizerMissing
from trainer.tokenizer.tokenizer import Tokenizer

REPORT: Final = "report.json"
_EVERY: Final = 1.0  # seconds between two tellings of how far it is


class Preparation:
    """Of the run at ``places``. ``processes`` clean documents; ``stopping`` says whether to end; ``fetch`` has a source
    of the form hub on this machine.

    Raises Interrupted where it was told to end: the same again goes on from there.
    """

    def __init__(
        self,
        places: Places,
        processes: int,
        tell: Tell,
        stopping: Callable[[], bool],
        fetch: Callable[[str], list[Place]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places, self._processes, self._tell, self._stopping = places, processes, tell, stopping
        self._fetch, self._clock = fetch, clock
        self._plan: Corpus = places.run.data
        self._told = -_EVERY

    @property
    def _texts_folder(self) -> Path:
        return self._places.corpus / "texts"

    @property
    def has_texts(self) -> bool:
        """Whether there are cleaned texts, of which the sources may be gone."""
        return read_texts(self._texts_folder) is not None

    def texts(self) -> Texts:
        """The cleaned texts. Raises NoText, NoRoom, HelperLost, Interrupted, and what fetching raises."""
        kept = read_texts(self._texts_folder)
        files = list(files_of(self._named(self._plan.sources)))
        found = stamp(files)
        # Whoever has the texts may have taken away what they were made of.
        if kept and (kept.stamp == found or not any(file.path.exists() for file in files)):
            self._tell("texts_kept", None, {"documents": kept.documents, "characters": kept.characters})
            return kept
        self._forget()
        sizes = [file.path.stat().st_size if file.path.is_file() else 0 for file in files]
        self._tell("texts_started", 0.0, {"files": len(files), "bytes": sum(sizes), "processes": self._processes})
        measured = (read for file in files_of(self._named(self._plan.evaluations)) for read in self._read(file))
        with helpers(self._plan, evaluation_texts(measured), self._processes) as others:
            maker = TextMaker(self._texts_folder, self._plan, files, found, self._moved_in(sizes))
            made = maker.make(others)
        if not made.report.documents:
            raise NoText(files=len(files), unreadable=made.report.unreadable)
        self._tell("texts_done", None, made.report.as_json())
        return made

    def tokenizer(self, texts: Texts, *, again: bool = False) -> Tokenizer:
        """The trained tokenizer. Raises VocabularyNotReached, TokenizerBroken, TooFewDocuments, ShardsBroken."""
        folder, plan, vocabulary = self._places.tokenizer, self._plan, self._places.run.model.vocabulary
        if not again:
            try:
                return Tokenizer.load(folder)
            except TokenizerMissing:
                # Then it is trained now.
                pass
        began = self._clock()
        self._tell("tokenizer_started", None, {"vocabulary": vocabulary})
        splits = Splits(texts, plan.validation_share)
        chosen = sample(self._texts_folder, texts, splits, plan.tokenizer.sample_characters)
        special, lowest = plan.tokenizer.special_tokens, plan.tokenizer.lowest_count
        trained = Tokenizer.train(chosen, vocabulary, special, lowest)
        trained.save(folder)
        self._tell("tokenizer_done", None, {**trained.as_json(), "seconds": self._clock() - began})
        return trained

    def shards(self, texts: Texts, tokenizer: Tokenizer) -> Index:
        """The shards. Raises TooFewDocuments, ShardsBroken, NoRoom, Interrupted."""
        folder = self._places.corpus
        splits = Splits(texts, self._plan.validation_share)
        try:
            index = read_index(folder)
            if index.tokenizer == tokenizer.sha256:
                self._tell("shards_kept", None, _counts(index))
                return index
        except ShardsMissing:
            # Then they are written now.
            pass
        self._tell("shards_started", 0.0, {"documents": texts.documents})

        def moved(documents: int) -> None:
            self._moved("shards_progress", documents / texts.documents, {"documents": documents})

        index = write_shards(folder, self._texts_folder, texts, splits, tokenizer, self._plan.shard_tokens, moved)
        self._tell("shards_done", None, _counts(index))
        return index

    def unseen(self, texts: Texts) -> Iterator[str]:
        """The documents that are never trained on. Raises TooFewDocuments, ShardsBroken."""
        splits = Splits(texts, self._plan.validation_share)
        return (text for text in documents_of(self._texts_folder, texts) if splits.of(text) == "validation")

    def corpus(self) -> dict[str, Any]:
        """All of it; the report, which is written beside the shards too. Raises what the parts raise."""
        texts = self.texts()
        tokenizer = self.tokenizer(texts)
        index = self.shards(texts, tokenizer)
        report = {**texts.report.as_json(), "splits": _counts(index), "tokenizer": tokenizer.as_json()}
        write_whole(self._places.corpus / REPORT, json.dumps(report, ensure_ascii=False, indent=1).encode())
        return {"folder": str(self._places.corpus), "report": report}

    def _named(self, sources: tuple[Source, ...]) -> list[Place]:
        """Where each of ``sources`` is on this machine, once it is."""
        return [
            place
            for source in sources
            for place in (self._fetch(source.path) if source.form == "hub" else [Place(Path(source.path), source.form)])
        ]

    def _read(self, file: SourceFile) -> Reads:
        return file.read(self._plan.cleaning.most_characters)

    def _forget(self) -> None:
        """Shards and tokenizer of other texts go first, so that none of them is ever taken for one of these."""
        with room_at(self._places.corpus):
            for folder, pattern in ((self._texts_folder, "index.json"), (self._places.corpus, "*.json")):
                for path in folder.glob(pattern) if folder.is_dir() else ():
                    path.unlink()
            for path in self._places.tokenizer.glob("*.json") if self._places.tokenizer.is_dir() else ():
                path.unlink()

    def _moved_in(self, sizes: list[int]) -> Callable[[int, int], None]:
        whole = sum(sizes)

        def moved(documents: int, file: int) -> None:
            self._moved("texts_progress", sum(sizes[:file]) / whole if whole else None, {"documents": documents})

        return moved

    def _moved(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        if self._stopping():
            raise Interrupted
        if self._clock() - self._told >= _EVERY:
            self._told = self._clock()
            self._tell(kind, fraction, facts)


class Interrupted(Exception):
    """It was told to end, and did at a place from which it goes on."""


def _counts(index: Index) -> dict[str, Any]:
    return {
        split: {name: value for name, value in asdict(found).items() if name != "shards"}
        | {"shards": len(found.shards)}
        for split, found in index.splits.items()
    }
