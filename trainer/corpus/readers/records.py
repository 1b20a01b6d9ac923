"""JSON lines, a document each: a text, a conversation, or a question with its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trainer.corpus.readers.decoding import DAMAGED, Decoding, opened
from trainer.corpus.readers.document import Document, Older, Problem, Reads
from trainer.corpus.readers.plain import cut

LONGEST_LINE: Final = 1 << 26  # bytes
TEXTS: Final = ("text", "content", "contenido", "texto")
QUESTIONS: Final = ("prompt", "question", "instruction")
ANSWERS: Final = ("answer", "chosen", "completion", "response", "output")


def read_jsonl(path: Path, most: int) -> Reads:
    """Every line's text, in documents of ``most`` characters at most; a line that is none is told by its number."""
    decoding = Decoding()
    try:
        with opened(path) as file:
            number, passing = 0, False
            while raw := file.readline(LONGEST_LINE):
                whole = raw.endswith(b"\n") or len(raw) < LONGEST_LINE
                if passing or not whole:
                    # Of a line that is too long, all pieces are passed over.
                    if not passing:
                        number += 1
                        yield Problem(str(path), "the line is too long", number)
                    passing = not whole
                    continue
                number += 1
                if raw.strip():
                    yield from _of_line(path, number, decoding.text(raw), most)
    except DAMAGED as error:
        yield Problem(str(path), getattr(error, "strerror", None) or "it is damaged or cut short")
    if decoding.older:
        yield Older(str(path), decoding.older)


def _of_line(path: Path, number: int, line: str, most: int) -> Reads:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        yield Problem(str(path), "the line is no JSON", number)
        return
    text = text_of(record)
    if text is None:
        yield Problem(str(path), "the line has no text", number)
        return
    for piece in cut(iter(text.split("\n")), most):
        if piece.strip():
            yield Document(piece.strip(), f"{path}:{number}")


def text_of(record: Any) -> str | None:
    """The text of a record: its own, what is said in its messages, or its question and answer; None where none is."""
    if isinstance(record, str):
        return record
    if not isinstance(record, Mapping):
        return None
    for key in TEXTS:
        if isinstance(record.get(key), str):
            return str(record[key])
    if isinstance(messages := record.get("messages"), list):
        said = [each.get("content") for each in messages if isinstance(each, Mapping)]
        return "\n\n".join(each for each in said if isinstance(each, str)) or None
    pair = [
        next((record[key] for key in keys if isinstance(record.get(key), str)), None) for keys in (QUESTIONS, ANSWERS)
    ]
    return "\n\n".join(each for each in pair if each is not None) or None
