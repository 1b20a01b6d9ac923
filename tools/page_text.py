"""Text from the web on its way to the model and to people: short, on one line, and nothing in it that commands."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import urlsplit

# Chat templates' control tokens and tool-call marks, of any model: <|im_end|>, <s>, [INST], <tool_call>.
_CONTROL_TOKENS: Final = re.compile(
    r"<\|[^<>|]{0,60}\|>|</?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|tools|start_of_turn|end_of_turn)>|"
    r"\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
_LONGEST_URL: Final = 2000


def clean_page_text(text: str, longest: int) -> str:
    """``text`` on one line without control tokens and control characters, at most ``longest`` characters."""
    text = _CONTROL_TOKENS.sub(" ", text[: longest * 8])
    kept = "".join(" " if unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs", "Co") else letter for letter in text)
    kept = "".join(
        letter for letter in kept if letter not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )
    line = " ".join(kept.split())
    return line if len(line) <= longest else cut_at_word(line, longest - 1) + "…"


def cut_at_word(text: str, longest: int) -> str:
    """At most ``longest`` characters of ``text``, ending with a whole word where there is one."""
    if len(text) <= longest:
        return text
    head = text[: longest + 1].rsplit(" ", 1)[0] if " " in text[: longest + 1] else text[:longest]
    return head.rstrip()


def web_address(url: str) -> str | None:
    """``url`` where it is an address of the web that can be shown, else None."""
    url = url.strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    plain = url.isprintable() and " " not in url and len(url) <= _LONGEST_URL
    return url if plain and parts.scheme in ("http", "https") and parts.hostname else None
