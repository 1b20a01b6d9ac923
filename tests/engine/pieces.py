"""Cutting a text into pieces, as streams do, and putting what became of it together again."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence

from engine.answers import Called, Delta, Piece, Thought


def cut(text: str) -> Iterator[list[str]]:
    """The whole, single characters, and every way of cutting its bytes in two, held to whole characters."""
    yield [text]
    yield list(text)
    content = text.encode()
    for place in range(len(content) + 1):
        decoder = codecs.getincrementaldecoder("utf-8")()
        yield [decoder.decode(content[:place]), decoder.decode(content[place:], final=True)]


def joined(pieces: Sequence[Piece], kind: type[Delta] | type[Thought]) -> str:
    """The text of all pieces of one kind."""
    return "".join(piece.text for piece in pieces if isinstance(piece, kind) and not isinstance(piece, Called))
