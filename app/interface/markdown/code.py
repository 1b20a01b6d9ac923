"""Code coloured line by line: what a line costs does not depend on how many went before it.

One set of rules serves the common languages: words that are keywords in any of their family, strings, numbers and
comments. What spans lines (a block comment, a triple-quoted string) is the only state carried from line to line.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from app.interface.markdown.lines import Look, Span


@dataclass(frozen=True)
class Grammar:
    """How a family of languages writes comments and strings, and its keywords."""

    line_comment: str | None
    blocks: tuple[tuple[str, str, Look], ...]
    quotes: str
    keywords: frozenset[str] = frozenset()
    any_case: bool = False


_WORDS_FILE: Final = Path(__file__).with_name("keywords.toml")
_C_BLOCK: Final = ("/*", "*/", Look.COMMENT)
_TRIPLES: Final = (('"""', '"""', Look.STRING), ("'''", "'''", Look.STRING))
_FAMILIES: Final = {
    "c": Grammar("//", (_C_BLOCK, ("`", "`", Look.STRING)), "\"'"),
    "hash": Grammar("#", _TRIPLES, "\"'"),
    "sql": Grammar("--", (_C_BLOCK,), "\"'", any_case=True),
    "markup": Grammar(None, (("<!--", "-->", Look.COMMENT),), "\"'"),
    "css": Grammar(None, (_C_BLOCK,), "\"'"),
}


@lru_cache(maxsize=1)
def _languages() -> dict[str, Grammar]:
    """Every language's rules. Read when the first code arrives."""
    families = tomllib.loads(_WORDS_FILE.read_text(encoding="utf-8"))
    return {
        language: replace(_FAMILIES[family], keywords=frozenset(words["words"].split()))
        for family, words in families.items()
        for language in words["languages"].split()
    }


def grammar(language: str) -> Grammar | None:
    """The rules for ``language`` as a fence names it; None for an unknown one, which is shown plain."""
    return _languages().get(language.lower())


@lru_cache(maxsize=16)
def _pattern(rules: Grammar) -> re.Pattern[str]:
    parts = [f"(?P<block>{'|'.join(re.escape(opening) for opening, _, _ in rules.blocks)})"] if rules.blocks else []
    if rules.line_comment:
        parts.append(rf"(?P<comment>(?<!\w){re.escape(rules.line_comment)}.*)")
    parts.append(
        "(?P<string>" + "|".join(rf"{quote}(?:\\.|[^{quote}\\])*(?:{quote}|$)" for quote in rules.quotes) + ")"
    )
    parts.append(r"(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)")
    return re.compile("|".join(parts))


def colour(line: str, rules: Grammar, inside: int) -> tuple[list[Span], int]:
    """The spans of one line of code, and the state for the next.

    ``inside`` is 0, or 1 + the number of the block rule (comment, long string) that the line begins in.
    """
    spans: list[Span] = []
    position = 0
    while position < len(line):
        if inside:
            _, closing, look = rules.blocks[inside - 1]
            found = line.find(closing, position)
            end = len(line) if found < 0 else found + len(closing)
            spans.append(Span(line[position:end], look))
            inside = inside if found < 0 else 0
            position = end
            continue
        token = _pattern(rules).search(line, position)
        if token is None:
            spans.append(Span(line[position:]))
            break
        if token.start() > position:
            spans.append(Span(line[position : token.start()]))
        position = token.end()
        if token.lastgroup == "block":
            inside = 1 + next(n for n, (opening, _, _) in enumerate(rules.blocks) if opening == token.group())
            spans.append(Span(token.group(), rules.blocks[inside - 1][2]))
        else:
            spans.append(Span(token.group(), _look(token, rules)))
    return spans, inside


def _look(token: re.Match[str], rules: Grammar) -> Look:
    match token.lastgroup:
        case "comment":
            return Look.COMMENT
        case "string":
            return Look.STRING
        case "number":
            return Look.NUMBER
        case _:
            word = token.group().lower() if rules.any_case else token.group()
            return Look.KEYWORD if word in rules.keywords else Look.PLAIN
