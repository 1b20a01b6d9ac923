"""The cleaned texts of a corpus: every document once, in the order of its sources, in files of JSON lines.

Sources are gone through in stretches. After each, what was kept is in a file of its own and all that is known is
written down, so that a corpus that was interrupted goes on there, to the same bytes, with however many processes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from configs import disk
from configs.pretraining.corpus import Corpus
from trainer.corpus.errors import ShardsBroken
from trainer.corpus.helpers import Helpers
from trainer.corpus.judging import Judged, Reason, in_batches
from trainer.corpus.likeness import Likeness
from trainer.corpus.readers.document import Document, Older, Problem, Read
from trainer.corpus.readers.sources import SourceFile
from trainer.corpus.repeated import RepeatedLines
from trainer.corpus.report import CorpusReport, report_from_json
from trainer.corpus.shuffled import keyed
from trainer.pipeline.artifacts import digest_of
from trainer.room import room_at, write_whole

FORM: Final = 1  # of the files here, and of what the code makes of the same sources
INDEX, STATE = "index.json", "state.npz"
# What a process gets at once.
BATCH_DOCUMENTS, BATCH_CHARACTERS = 64, 1 << 18


@dataclass(frozen=True)
class TextFile:
    """JSON lines, a kept document each."""

    file: str
    sha256: str
    documents: int
    characters: int


@dataclass
class Texts:
    """``stamp``: what the sources were. ``least``: the smallest of the numbers by which documents come into a split."""

    stamp: str
    files: list[TextFile] = field(default_factory=list)
    report: CorpusReport = field(default_factory=CorpusReport)
    least: int = (1 << 64) - 1

    @property
    def characters(self) -> int:
        return sum(file.characters for file in self.files)

    @property
    def documents(self) -> int:
        return sum(file.documents for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """For ``texts_from_json``."""
        files = [vars(file) for file in self.files]
        return {"form": FORM, "stamp": self.stamp, "files": files, "least": self.least, "report": self.report.as_json()}


def texts_from_json(told: Mapping[str, Any]) -> Texts:
    """What ``as_json`` told. Raises KeyError, TypeError, ValueError for anything else."""
    if told["form"] != FORM:
        raise ValueError(f"form {told['form']}")
    files = [TextFile(**file) for file in told["files"]]
    return Texts(told["stamp"], files, report_from_json(told["report"]), int(told["least"]))


def read_texts(folder: Path) -> Texts | None:
    """The texts in ``folder``, if they are all there."""
    try:
        return texts_from_json(json.loads((folder / INDEX).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def documents_of(folder: Path, texts: Texts) -> Iterator[str]:
    """Every kept document. Raises ShardsBroken for a file that is not what was written."""
    for file in texts.files:
        path, digest = folder / file.file, hashlib.sha256()
        try:
            with path.open("rb") as lines:
                for line in lines:
                    digest.update(line)
                    yield json.loads(line)["text"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its bytes are not those that were written"
            raise ShardsBroken(path=str(path), reason=reason or str(error)) from error
        if digest.hexdigest() != file.sha256:
            raise ShardsBroken(path=str(path), reason="its bytes are not those that were written")


class TextMaker:
    """Cleans ``files`` into ``folder``. ``moved(documents, file)`` is called as it goes, and may raise to interrupt.

    ``file`` is counted from 0.
    """

    def __init__(
        self, folder: Path, plan: Corpus, files: Sequence[SourceFile], stamp: str, moved: Callable[[int, int], None]
    ) -> None:
        self._folder, self._plan, self._files, self._moved = folder, plan, files, moved
        self._texts = Texts(stamp)
        self._lines = RepeatedLines(plan.cleaning.line_documents)
        self._known = Likeness(plan.duplicates.permutations, plan.duplicates.likeness)
        self._position = self._file = 0

    def make(self, helpers: Helpers) -> Texts:
        """Clean what was not cleaned before. Raises NoRoom."""
        with room_at(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._take_up()
        reads = islice(self._reads(), self._position, None)
        for first in reads:
            self._stretch(helpers, chain([first], reads))
            self._keep()
        content = json.dumps(self._texts.as_json(), ensure_ascii=False, indent=1).encode()
        write_whole(self._folder / INDEX, content)
        with room_at(self._folder):
            (self._folder / STATE).unlink(missing_ok=True)
            # What is left of longer sources that were there before.
            kept = {self._folder / file.file for file in self._texts.files}
            for path in set(self._folder.glob("texts-*.jsonl")) - kept:
                path.unlink()
        return self._texts

    def _reads(self) -> Iterator[Read]:
        for number, file in enumerate(self._files):
            self._file = number
            yield from file.read(self._plan.cleaning.most_characters)

    def _stretch(self, helpers: Helpers, reads: Iterator[Read]) -> None:
        """Clean some of ``reads`` into a file of their own."""
        path = self._folder / f"texts-{len(self._texts.files):05d}.jsonl"
        digest, documents, characters = hashlib.sha256(), 0, 0
        batches = in_batches(self._some(reads), BATCH_DOCUMENTS, BATCH_CHARACTERS)
        clean = helpers.each("clean", batches)
        with room_at(path), disk.put_in_place(path, alone=True) as aside, aside.open("wb") as file:
            for batch in helpers.each("judge", map(self._without_lines, clean)):
                for text in self._compared(batch):
                    line = json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
                    digest.update(line)
                    file.write(line)
                    documents, characters = documents + 1, characters + len(text)
                self._moved(self._texts.report.documents, self._file)
        self._texts.files.append(TextFile(path.name, digest.hexdigest(), documents, characters))

    def _some(self, reads: Iterator[Read]) -> Iterator[Read]:
        """As many as make a file, by the characters that were read."""
        size = 0
        for each in reads:
            yield each
            self._position += 1
            size += len(each.text) if isinstance(each, Document) else 1
            if size >= self._plan.cleaning.stretch_characters:
                return

    def _without_lines(self, batch: Sequence[Judged | Read]) -> list[Read]:
        """The documents without lines that many had before; here, since the order of documents matters."""
        plain: list[Read] = []
        for each in batch:
            if isinstance(each, Document):
                plain.append(Document(self._lines.without(each.text), each.where))
            elif not isinstance(each, Judged):
                plain.append(each)
        return plain

    def _compared(self, batch: Sequence[Judged | Read]) -> Iterator[str]:
        """The texts of those that stay, after they were held against all that stayed before."""
        report = self._texts.report
        for each in batch:
            if isinstance(each, Judged):
                reason = each.reason or self._alike(each)
                report.add(each, reason)
                if reason is None:
                    self._texts.least = min(self._texts.least, split_number(each.text))
                    yield each.text
            elif isinstance(each, Problem):
                report.add_problem(each)
            elif isinstance(each, Older):
                report.add_older(each)

    def _alike(self, judged: Judged) -> Reason | None:
        assert judged.signature is not None  # noqa: S101 - what has no reason was signed
        if self._known.same(judged.words):
            return "duplicate"
        if self._known.like(judged.signature):
            return "near_duplicate"
        self._known.keep(judged.words, judged.signature)
        return None

    def _keep(self) -> None:
        """Write down where it stands."""
        told = {"plan": self._plan_code(), "position": self._position, "texts": self._texts.as_json()}
        meta = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
        arrays = {"told": meta, "lines": self._lines.counts, **self._known.arrays()}
        path = self._folder / STATE
        with room_at(path), disk.put_in_place(path, alone=True) as aside, aside.open("wb") as file:
            # Array by array: what is known of millions of documents is not in memory twice.
            np.savez(file, allow_pickle=False, **arrays)

    def _take_up(self) -> None:
        """Go on from where it stood, where that was of the same sources and plan, and its files are what they were."""
        try:
            with np.load(self._folder / STATE, allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}
            told = json.loads(arrays.pop("told").tobytes())
            texts = texts_from_json(told["texts"])
            if texts.stamp != self._texts.stamp or told["plan"] != self._plan_code():
                return
            for file in texts.files:
                if digest_of(self._folder / file.file) != file.sha256:
                    return
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            # Nothing was begun, or what is there cannot be gone on from.
            return
        self._lines = RepeatedLines(self._plan.cleaning.line_documents, arrays.pop("lines"))
        self._known.take_up(arrays)
        self._texts, self._position = texts, int(told["position"])

    def _plan_code(self) -> str:
        return hashlib.sha256(self._plan.model_dump_json().encode()).hexdigest()


def split_number(text: str) -> int:
    """A number of 64 bits that only the text decides, by which it comes into a split."""
    return keyed("split", text)
