"""The sources of a corpus as files in a fixed order, each with what reads it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainer.corpus.readers.decoding import plain_name
from trainer.corpus.readers.document import Problem, Reads
from trainer.corpus.readers.epub import read_epub
from trainer.corpus.readers.plain import read_markdown, read_text
from trainer.corpus.readers.records import read_jsonl
from trainer.corpus.readers.wikipedia import read_wikipedia

Reader = Callable[[Path, int], Reads]
READERS: Final[dict[str, Reader]] = {
    "text": read_text,
    "markdown": read_markdown,
    "jsonl": read_jsonl,
    "epub": read_epub,
    "wikipedia": read_wikipedia,
}
# What a file in a folder is called, packed or not; a file that is named itself may be called anything.
ENDINGS: Final[dict[str, tuple[str, ...]]] = {
    "text": (".txt", ".text"),
    "markdown": (".md", ".markdown"),
    "jsonl": (".jsonl", ".ndjson"),
    "epub": (".epub",),
    "wikipedia": (".xml",),
}


@dataclass(frozen=True)
class Place:
    """A file or folder to be read, and as what."""

    path: Path
    form: str


@dataclass(frozen=True)
class SourceFile:
    """One file, and as what it is read."""

    path: Path
    form: str

    def read(self, most: int) -> Reads:
        """Its documents, of ``most`` characters at most, and what could not be read."""
        try:
            yield from READERS[self.form](self.path, most)
        except OSError as error:
            yield Problem(str(self.path), error.strerror or str(error))


def files_of(places: Sequence[Place]) -> Iterator[SourceFile]:
    """Every file of ``places``, those of a folder in the order of their names; one that is named twice is read once."""
    seen: set[Path] = set()
    for place in places:
        for path in [place.path] if not place.path.is_dir() else _within(place.path, ENDINGS[place.form]):
            if path not in seen:
                seen.add(path)
                yield SourceFile(path, place.form)


def _within(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        # Changed in place, so that os.walk goes on in this order.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(here) / name
            if not name.startswith(".") and plain_name(path).endswith(endings):
                yield path


def stamp(files: Sequence[SourceFile]) -> str:
    """What tells these files, as they are now, from others: names, sizes and when they were changed."""
    digest = hashlib.sha256()
    for file in files:
        try:
            found = file.path.stat()
            told = f"{file.path}\0{file.form}\0{found.st_size}\0{found.st_mtime_ns}\n"
        except OSError as error:
            told = f"{file.path}\0{file.form}\0{error.strerror}\n"
        digest.update(told.encode(errors="surrogateescape"))
    return digest.hexdigest()
