"""A dump of Wikipedia (pages-articles.xml, packed or not): its articles, without redirects, talk and templates.

https://www.mediawiki.org/xml/export-0.11.xsd. A dump has each of the tags that matter here at the beginning of a line,
so that it is gone through by lines: no parser of XML holds its state, and none can be made to swell.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trainer.corpus.readers.decoding import Decoding, lines_of
from trainer.corpus.readers.document import Document, Older, Problem, Reads
from trainer.corpus.readers.plain import cut
from trainer.corpus.readers.wikitext import prose_of_wikitext

LONGEST_PAGE: Final = 1 << 24  # characters of markup
_TITLE: Final = re.compile(r"\s*<title>(.*?)</title>")
_SPACE: Final = re.compile(r"\s*<ns>(-?\d+)</ns>")
_TEXT: Final = re.compile(r"\s*<text\b[^>]*?(/)?>")
_CLOSING: Final = "</text>"


@dataclass
class _Page:
    title: str = ""
    article: bool = True
    within: bool = False
    lines: list[str] = field(default_factory=list)
    size: int = 0


def read_wikipedia(path: Path, most: int) -> Reads:
    """An article a document, of ``most`` characters at most, its title first."""
    decoding, page, pages = Decoding(), _Page(), 0
    for line in lines_of(path, decoding):
        if isinstance(line, Problem):
            yield line
            continue
        if page.within:
            _take(page, line)
        elif "<page>" in line:
            page, pages = _Page(), pages + 1
        elif found := _TITLE.match(line):
            page.title = html.unescape(found[1])
        elif found := _SPACE.match(line):
            page.article &= found[1] == "0"
        elif "<redirect " in line:
            page.article = False
        elif (found := _TEXT.match(line)) and not found[1]:
            page.within = True
            _take(page, line[found.end() :])
        elif "</page>" in line:
            yield from _article(path, page, most)
            page = _Page()
    if not pages:
        yield Problem(str(path), "there are no pages of a wiki in it")
    if decoding.older:
        yield Older(str(path), decoding.older)


def _take(page: _Page, line: str) -> None:
    text, closing, _ = line.partition(_CLOSING)
    page.within = not closing
    page.size += len(text) + 1
    if page.article and page.size <= LONGEST_PAGE:
        page.lines.append(text)


def _article(path: Path, page: _Page, most: int) -> Reads:
    if not page.article:
        return
    where = f"{path}!{page.title}"
    if page.size > LONGEST_PAGE:
        yield Problem(where, "it is longer than any article is")
        return
    prose = prose_of_wikitext(html.unescape("\n".join(page.lines)))
    if prose:
        for text in cut(iter([page.title, "", *prose.split("\n")]), most):
            if text.strip():
                yield Document(text.strip(), where)
