"""Code coloured line by line: what a line costs does not depend on how many went before it.

One set of rules serves the common languages: words that are keywords in any of their family, strings, numbers and
comments. What spans lines (a block comment, a triple-quoted string) is the only state carried from line to line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.interface.markdown.lines import Look, Span


@dataclass(frozen=True)
class Grammar:
    """How a family of languages writes comments and strings, and its keywords."""

    line_comment: str | None
    blocks: tuple[tuple[str, str, Look], ...]
    quotes: str
    keywords: frozenset[str]
    any_case: bool = False


_C_WORDS: Final = frozenset(
    "abstract as async await bool boolean break case catch char class const continue default defer delete do double else "
    "enum export extends extern false final finally float fn for from func function go goto if impl implements import in "
    "instanceof int interface let long loop match mod mut namespace new nil null object of override package private "
    "protected pub public return self short signed sizeof static string struct super switch template this throw throws "
    "trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile when "
    "where while with yield".split()
)
_HASH_WORDS: Final = frozenset(
    "False None True and as assert async await begin break case class continue def del do done echo elif else elsif end "
    "esac except export false fi finally for from function global if import in is lambda local match module nil nonlocal "
    "not null or pass raise require return self then true try unless until when while with yield".split()
)
_SQL_WORDS: Final = frozenset(
    "add all alter and as asc between by case create delete desc distinct drop else end exists from group having in index "
    "inner insert into is join key left like limit not null offset on or order outer primary references right select set "
    "table then union unique update values view when where with".split()
)
_C_BLOCK: Final = ("/*", "*/", Look.COMMENT)
_TRIPLES: Final = (('"""', '"""', Look.STRING), ("'''", "'''", Look.STRING))

_C: Final = Grammar("//", (_C_BLOCK, ("`", "`", Look.STRING)), "\"'", _C_WORDS)
_HASH: Final = Grammar("#", _TRIPLES, "\"'", _HASH_WORDS)
_SQL: Final = Grammar("--", (_C_BLOCK,), "\"'", _SQL_WORDS, any_case=True)
_MARKUP: Final = Grammar(None, (("<!--", "-->", Look.COMMENT),), "\"'", frozenset())
_CSS: Final = Grammar(None, (_C_BLOCK,), "\"'", frozenset())

_FAMILIES: Final = {
    **dict.fromkeys("c cc cpp c++ cs csharp go java javascript js json jsonc jsx kotlin php rust rs scala swift ts tsx".split(), _C),
    **dict.fromkeys("typescript dart".split(), _C),
    **dict.fromkeys("bash console dockerfile ini makefile perl py python python3 r rb ruby sh shell toml yaml yml zsh".split(), _HASH),
    **dict.fromkeys("sql sqlite postgres postgresql mysql".split(), _SQL),
    **dict.fromkeys("html xml svg vue".split(), _MARKUP),
    **dict.fromkeys("css scss less".split(), _CSS),
}


def grammar(language: str) -> Grammar | None:
    """The rules for ``language`` as a fence names it; None for an unknown one, which is shown plain."""
    return _FAMILIES.get(language.lower())


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
