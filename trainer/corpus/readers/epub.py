"""Books: an EPUB's chapters in the order in which they are read (EPUB 3.3, https://www.w3.org/TR/epub-33/)."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from trainer.corpus.readers.decoding import Decoding
from trainer.corpus.readers.document import Document, Older, Problem, Reads
from trainer.corpus.readers.html import prose_of
from trainer.corpus.readers.plain import cut

CONTAINER: Final = "META-INF/container.xml"
# A chapter is text; one that unpacks to more was made to fill memory.
LARGEST_PART: Final = 1 << 25
PAGES: Final = frozenset({"application/xhtml+xml", "text/html"})
_DAMAGED: Final = (OSError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


class _Tags(HTMLParser):
    """Every tag with its attributes; names in small letters, without what stands before a colon.

    Not an XML parser: this one knows no entities, so that none can be made to swell.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Mapping[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag.rpartition(":")[2], {name: value or "" for name, value in attrs}))


def read_epub(path: Path, most: int) -> Reads:
    """A document a chapter, of ``most`` characters at most."""
    decoding = Decoding()
    try:
        with zipfile.ZipFile(path) as book:
            for name in _spine(book, decoding):
                try:
                    page = _part(book, name, decoding)
                except _DAMAGED:
                    yield Problem(f"{path}!{name}", "it is damaged or cut short")
                    continue
                if page is None:
                    yield Problem(f"{path}!{name}", "it unpacks to more than any chapter is")
                    continue
                for text in cut(iter(prose_of(page).split("\n")), most):
                    if text.strip():
                        yield Document(text.strip(), f"{path}!{name}")
    except _DAMAGED as error:
        yield Problem(str(path), getattr(error, "strerror", None) or "it is no book in EPUB")
    if decoding.older:
        yield Older(str(path), decoding.older)


def _part(book: zipfile.ZipFile, name: str, decoding: Decoding) -> str | None:
    """Python reads no more of a part than its entry says."""
    return None if book.getinfo(name).file_size > LARGEST_PART else decoding.text(book.read(name))


def _spine(book: zipfile.ZipFile, decoding: Decoding) -> list[str]:
    """The names of the chapters, in their order. Raises KeyError where the book does not say."""
    container = _Tags(_part(book, CONTAINER, decoding) or "").found
    package = next((given["full-path"] for tag, given in container if tag == "rootfile"), None)
    if package is None:
        raise KeyError("rootfile")
    found = _Tags(_part(book, package, decoding) or "").found
    pages = {
        given["id"]: posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(given["href"])))
        for tag, given in found
        if tag == "item" and given.get("media-type") in PAGES and given.get("id") and given.get("href")
    }
    return [pages[given["idref"]] for tag, given in found if tag == "itemref" and given.get("idref") in pages]
