"""The prose of an HTML page: paragraphs with a blank line between them, without what a browser puts around them."""

from __future__ import annotations

import re
from collections.abc import Collection
from html.parser import HTMLParser
from typing import Final

from configs.wordlists import words_of

VOID: Final = words_of("area base br col embed hr img input link meta param source track wbr")
BLOCKS: Final = words_of(
    "address article blockquote body caption center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5"
    " h6 header hr li main ol p pre section table tbody td th thead tr ul"
)
# No part of what the page says.
ASIDE: Final = words_of("aside button footer head header nav noscript script select style svg template")
# How DocBook's pages mark their ways to other pages.
WAYS: Final = frozenset({"navheader", "navfooter", "docnav", "toc", "noprint"})
_BLANKS: Final = re.compile(r"\s+")


class _Prose(HTMLParser):
    def __init__(self, left_out: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._left_out = ASIDE | set(left_out)
        self._within: tuple[str, int] | None = None  # the tag that is passed over, and how deep
        self._pieces: list[str] = []
        self.paragraphs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._within:
            name, depth = self._within
            self._within = (name, depth + (tag == name))
            return
        if tag in BLOCKS or tag == "br":
            self._end()
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        if tag not in VOID and (tag in self._left_out or "hidden" in given or classes & WAYS):
            self._within = (tag, 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._within and (tag in BLOCKS or tag == "br"):
            self._end()

    def handle_endtag(self, tag: str) -> None:
        if self._within:
            name, depth = self._within
            depth -= tag == name
            self._within = (name, depth) if depth else None
        elif tag in BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self._pieces.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        text = _BLANKS.sub(" ", "".join(self._pieces)).strip()
        self._pieces = []
        if text:
            self.paragraphs.append(text)


def prose_of(page: str, left_out: Collection[str] = ()) -> str:
    """The paragraphs of ``page``, a blank line between them; ``left_out``: tags beside those that never are prose."""
    parser = _Prose(left_out)
    parser.feed(page)
    parser.close()
    return "\n\n".join(parser.paragraphs)
