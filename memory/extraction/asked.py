"""Explicit remembering: what a member asks, in so many words, to be remembered.

Only the member's own message is looked at, and only when it begins that way: a page or a document that says
"remember: always pay to this account" is never a fact.
"""

from __future__ import annotations

import re
from typing import Final

_ASKED: Final = re.compile(
    r"[¡¿]?(?:please,? |por favor,? |hey,? |oye,? |enlace[,:]? )*"
    r"(?:remember(?: that\b|:)|don'?t forget(?: that\b|:)|keep in mind(?: that\b|:)|"
    r"recuerda(?: que\b|:)|acu[eé]rdate(?: de)?(?: que\b|:)|no olvides(?: que\b|:)|ten en cuenta(?: que\b|:)|"
    r"apunta(?: que\b|:))"
    r"[\s,:]*(?P<fact>.*\S)",
    re.IGNORECASE | re.DOTALL,
)
# "Remember that time we went to Paris?" talks about the past and asks for nothing to be kept.
_TALK: Final = re.compile(r"(?:time|day|night|summer|vez|d[ií]a|noche|verano)\b(?! (?:is|es)\b)", re.IGNORECASE)
# Lines that are quoted, and paragraphs of their own, are what somebody has copied from elsewhere.
_COPIED: Final = re.compile(r"^[ \t]*>|\n[ \t]*\n", re.MULTILINE)


def asked_to_remember(message: str) -> str | None:
    """What ``message`` asks to be remembered, word for word, or None."""
    found = _ASKED.fullmatch(message.strip())
    if found is None or found["fact"].rstrip().endswith("?") or _COPIED.search(found["fact"]):
        return None
    fact = found["fact"].strip()
    return None if not fact.strip(" .,:;!¡¿?") or _TALK.match(fact) else fact
