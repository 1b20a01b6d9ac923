"""Emphasis, code, links and the rest inside a paragraph (CommonMark and strikethrough), as spans.

The parser is imported with the first paragraph: it is no part of the way to the first paint.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from app.interface.markdown.lines import Look, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LOOKS: Final = {"strong": Look.STRONG, "em": Look.EMPHASIS, "s": Look.STRUCK, "link": Look.LINK}


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML is nobody's to interpret here: it is shown as written.
    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough")


def inline(text: str, look: Look = Look.PLAIN) -> list[Span]:
    """The spans of ``text``. A line end in it stays one: people and small models mean it. Links show their address."""
    # The parser strips the ends of the text; nothing else of it is lost.
    tokens = _parser().parseInline(text)
    spans: list[Span] = []
    for token in tokens:
        _spans(token.children or [], look, spans)
    return spans


def _spans(tokens: list[Token], look: Look, spans: list[Span]) -> None:
    addresses: list[tuple[str, int]] = []
    for token in tokens:
        name, _, edge = token.type.rpartition("_")
        if edge == "open":
            look |= _LOOKS.get(name, Look.PLAIN)
            if name == "link":
                addresses.append((str(token.attrs.get("href", "")), len(spans)))
        elif edge == "close":
            if name == "link":
                address, since = addresses.pop()
                shown = "".join(span.text for span in spans[since:])
                if address and address not in {shown, f"mailto:{shown}"}:
                    spans.append(Span(f" ({address})", look & ~Look.LINK | Look.DIM))
            look &= ~_LOOKS.get(name, Look.PLAIN)
        elif token.type in {"softbreak", "hardbreak"}:
            spans.append(Span("\n", look))
        elif token.type == "code_inline":
            spans.append(Span(token.content, look | Look.CODE))
        elif token.type == "image":
            spans.append(Span(token.content or "…", look | Look.LINK))
            spans.append(Span(f" ({token.attrs.get('src', '')})", look | Look.DIM))
        elif token.content:
            spans.append(Span(token.content, look))
