"""Plain text and Markdown: a file is a document, or several where it is longer than a document may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from trainer.corpus.readers.decoding import Decoding, lines_of
from trainer.corpus.readers.document import Document, Older, Problem, Reads

_FRONT: Final = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MARKS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"!\[[^\]]*\]\([^)\s]*(?:\s+\"[^\"]*\")?\)"), ""),  # pictures
    (re.compile(r"\[([^\]\[]+)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)"), r"\1"),  # links
    (re.compile(r"\[([^\]\[]+)\]\[[^\]]*\]"), r"\1"),
    (re.compile(r"^\[[^\]]+\]:\s+\S+.*$", re.MULTILINE), ""),  # where links lead
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"^#{1,6}[ \t]+", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)([*_])(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"</?[A-Za-z][^<>\n]*>"), ""),
)


def read_text(path: Path, most: int) -> Reads:
    """A text, in documents of ``most`` characters at most."""
    yield from _documents(path, most, lambda text, _: text)


def read_markdown(path: Path, most: int) -> Reads:
    """Markdown as it is read aloud: no addresses, no marks, no YAML at its head."""
    yield from _documents(path, most, _unmarked)


def cut(lines: Iterator[str], most: int) -> Iterator[str]:
    """Lines as texts of ``most`` characters at most, cut between paragraphs where there is one in the last half."""
    held: list[str] = []
    size = 0
    for line in lines:
        for start in range(0, max(1, len(line)), most):
            piece = line[start : start + most]
            while size + len(piece) + 1 > most and held:
                place = _between(held, size)
                yield "\n".join(held[:place])
                held = held[place:]
                size = sum(len(each) + 1 for each in held)
            held.append(piece)
            size += len(piece) + 1
    if held:
        yield "\n".join(held)


def _between(held: list[str], size: int) -> int:
    """How many of the lines go into the text that is full: up to the last blank one, or all."""
    behind = 0
    for place in range(len(held) - 1, 0, -1):
        behind += len(held[place]) + 1
        if behind > size // 2:
            break
        if not held[place].strip():
            return place
    return len(held)


def _documents(path: Path, most: int, made: Callable[[str, bool], str]) -> Reads:
    decoding, problems = Decoding(), []

    def texts() -> Iterator[str]:
        for line in lines_of(path, decoding):
            if isinstance(line, Problem):
                problems.append(line)
            else:
                yield line

    for number, text in enumerate(cut(texts(), most)):
        if told := made(text, number == 0).strip():
            yield Document(told, f"{path}#{number + 1}" if number else str(path))
    yield from problems
    if decoding.older:
        yield Older(str(path), decoding.older)


def _unmarked(text: str, first: bool) -> str:
    if first:
        text = _FRONT.sub("", text)
    for pattern, instead in _MARKS:
        text = pattern.sub(instead, text)
    return text
