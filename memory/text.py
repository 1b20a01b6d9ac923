"""Words as people search for them: folding, cutting text into words, and full-text queries safe against any text.

The full-text index has two columns. ``exact`` holds words as written but for their case (NFC), and besides
those with signs inside as one word (``c++``, ``at&t``, ``don't``). ``folded`` holds words without accents, and after
them what they are about (``~dog`` of perro). So año finds both año and ano, the written one first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from configs.letters import without_marks

# Another number makes every home index its messages anew. Raise it with any change to how words are cut.
INDEX_VERSION = "2"

_SURROGATES = re.compile("[\ud800-\udfff]")
# One character is a word where a script is written without spaces, and so is an emoji.
_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u2600-\u27bf\U0001f000-\U0001faff"
# SQLite reads a query up to a NUL, and none of these belongs to a word.
_CONTROLS = re.compile("[\x00-\x1f\x7f]")
_PIECE = re.compile(f"[{_SINGLE}]|[^\\W{_SINGLE}]+")
_INNER_SIGNS = re.compile(r"[#+&'’./@_-]")
_OUTSIDE = " \t\r\n.,;:!?¡¿\"“”«»()[]{}<>…*_'’/-"
_COMBINED = re.compile(r"[\w\u0300-\u036f]+")


def storable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD; nothing else is changed."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def exact(text: str) -> str:
    """Lower case in NFC: what tells año from ano but not Año from año."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def fold(text: str) -> str:
    """What Núñez, NUNEZ and nunez have in common: compatibility forms, case and marks taken away.

    ``fold(fold(text)) == fold(text)``.
    """
    if text.isascii():
        return text.lower()
    while True:
        folded = unicodedata.normalize("NFKD", text).casefold()
        folded = unicodedata.normalize("NFKC", without_marks(folded))
        # A round can uncover what the next one takes away (a mark composed from a case folding).
        if folded == text:
            return folded
        text = folded


def pieces(text: str) -> list[str]:
    """The words of a text that ``exact`` or ``fold`` has been through."""
    return _PIECE.findall(text)


def exact_words(text: str) -> list[str]:
    """The words for the column ``exact``: every piece, then every word with signs inside or after it."""
    written = _CONTROLS.sub(" ", exact(text))
    words = pieces(written)
    if _INNER_SIGNS.search(written):
        words += [sign for chunk in written.split() if (sign := _with_signs(chunk))]
    return words


def folded_words(text: str) -> list[str]:
    """The words for the column ``folded``."""
    return pieces(fold(text))


def columns(text: str) -> tuple[str, str]:
    """What the full-text index stores for a text: (exact, folded)."""
    return " ".join(exact_words(text)), " ".join(folded_words(text))


def _with_signs(chunk: str) -> str:
    """``(c++),`` is ``c++`` and ``at&t`` itself; a chunk without signs inside is an empty string."""
    start = chunk.strip(_OUTSIDE)
    return start if _INNER_SIGNS.search(start) and any(c.isalnum() for c in start) else ""


def quoted(words: Iterable[str]) -> str:
    """Words in a row, as one phrase of an FTS5 expression."""
    return '"' + " ".join(words).replace('"', '""') + '"'


class Query:
    """A person's search, as terms: each is the words it may be found by, exactly or folded."""

    def __init__(self, text: str, *, longest: int, most_terms: int) -> None:
        """``longest`` characters of the text are looked at, ``most_terms`` words of it are searched for."""
        self.terms: list[tuple[str, list[str]]] = []
        for chunk in _CONTROLS.sub(" ", storable(text)[:longest]).split():
            written = exact(chunk)
            found = pieces(fold(chunk))
            if found and len(self.terms) < most_terms:
                self.terms.append((_with_signs(written) or " ".join(pieces(written)), found))

    def all_exact(self) -> str:
        """The FTS5 expression for every word as written; empty when there is nothing to search for."""
        return " AND ".join(f"exact : {quoted([written])}" for written, _ in self.terms)

    def all_folded(self) -> str:
        """... for every word, accents aside."""
        return " AND ".join(f"folded : {quoted(found)}" for _, found in self.terms)

    def all_beginning(self, shortest: int) -> str:
        """... with the last word perhaps not yet typed to its end, if ``shortest`` characters of it are there."""
        if not self.terms or len(self.terms[-1][1][-1]) < shortest:
            return ""
        return f"{self.all_folded()} *"

    def marked(self, word: str, shortest: int) -> bool:
        """Whether a word of a text is one of those searched for, or begins with the last of them."""
        found = pieces(fold(word))
        wanted = {piece for _, term in self.terms for piece in term}
        last = self.terms[-1][1][-1] if self.terms else ""
        return any(piece in wanted or (len(last) >= shortest and piece.startswith(last)) for piece in found)


def snippet(text: str, marked: Callable[[str], bool], *, width: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A stretch of about ``width`` characters around the first of the ``marked`` words, and where they stand in it.

    The places are (start, end) in characters of the stretch; it holds the text as written, never markup.
    """
    first = next((found.start() for found in _COMBINED.finditer(text) if marked(found.group())), 0)
    start = 0 if first < width // 2 else text.rfind(" ", 0, first - width // 4) + 1 or first - width // 4
    # A text without spaces may have its last one far before.
    start = max(start, first - width // 2, 0)
    end = min(start + width, len(text))
    before, after = "…" if start else "", "…" if end < len(text) else ""
    stretch = before + re.sub(r"\s", " ", text[start:end]) + after
    return stretch, marks_in(stretch, marked)


def marks_in(text: str, marked: Callable[[str], bool]) -> tuple[tuple[int, int], ...]:
    """Where the ``marked`` words stand in a text, as (start, end) in its characters."""
    return tuple(found.span() for found in _COMBINED.finditer(text) if marked(found.group()))
