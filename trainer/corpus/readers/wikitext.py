"""Wikipedia's markup as the prose that it shows: no templates, tables, references, pictures or addresses."""

from __future__ import annotations

import html
import re
from typing import Final

_OUT: Final = re.compile(
    r"<!--.*?-->|<ref\b[^<>]*/>|<(ref|math|gallery|timeline|syntaxhighlight|source|code|score|table|imagemap)\b[^<>]*>"
    r".*?</\1\s*>|__[A-Z]+__",
    re.DOTALL | re.IGNORECASE,
)
_INNERMOST_TEMPLATE: Final = re.compile(r"\{\{[^{}]*\}\}|\{\|(?:(?!\{\|).)*?\n\|\}", re.DOTALL)
_LINK: Final = re.compile(r"\[\[([^\[\]]*)\]\]")
_OUTER_LINK: Final = re.compile(r"\[(?:https?:|ftp:|mailto:)?//?[^\s\]]+(?:\s+([^\]]*))?\]")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_HEADING: Final = re.compile(r"^(={1,6})\s*(.*?)\s*\1\s*$", re.MULTILINE)
_LIST: Final = re.compile(r"^[*#:;]+\s*", re.MULTILINE)
_NESTED: Final = 30  # how deep templates and links are taken apart
# What a link with such a beginning shows is no text of the article.
_ASIDE: Final = re.compile(
    r"\s*(?:archivo|imagen|file|image|media|fichier|datei|ficheiro|fitxer|categoría|category|categoria|catégorie|"
    r"kategorie|[a-z]{2,3}(?:-[a-z]+)?)\s*:",
    re.IGNORECASE,
)
# Sections that are lists of other places.
_ENDING: Final = re.compile(
    r"^={2,3}\s*(?:referencias|notas|notas y referencias|véase también|enlaces externos|bibliografía|fuentes|references"
    r"|external links|see also|further reading)\s*={2,3}\s*$.*?(?=^==[^=]|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


def prose_of_wikitext(markup: str) -> str:
    """The paragraphs and headings of an article, lists as lines."""
    text = _ENDING.sub("", _OUT.sub("", markup))
    text = _until_nothing_changes(_INNERMOST_TEMPLATE, "", text)
    for _ in range(_NESTED):
        text, count = _LINK.subn(lambda found: _shown(found[1]), text)
        if not count:
            break
    text = _OUTER_LINK.sub(lambda found: found[1] or "", text)
    text = _TAG.sub("", re.sub(r"<br\s*/?>", "\n", text)).replace("'''", "").replace("''", "")
    text = _LIST.sub("", _HEADING.sub(r"\n\2\n", text))
    lines = (html.unescape(line).replace("\xa0", " ").strip() for line in text.split("\n"))
    # What is left of tables and templates that were never closed.
    kept = [line for line in lines if not line.startswith(("|", "!", "{|", "}}", "{{"))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _shown(link: str) -> str:
    """What of ``[[link]]`` is read: the text behind the bar, or the name of the page."""
    if _ASIDE.match(link):
        return ""
    page, bar, text = link.rpartition("|")
    return text if bar and text else page or text


def _until_nothing_changes(pattern: re.Pattern[str], instead: str, text: str) -> str:
    for _ in range(_NESTED):
        text, count = pattern.subn(instead, text)
        if not count:
            break
    return text
