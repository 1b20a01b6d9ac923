"""Why something went wrong, in the reader's language, where it was told by somebody who speaks only English.

The system tells its errors by number, pydantic by type codes, and those have texts of their own. What Enlace's own
parts, YAML and SQLite say is looked up by its letters, figures aside: ``not a GGUF file`` is
``reasons.not_a_gguf_file``, ``truncated: 10 bytes of 20`` is ``reasons.truncated_n_bytes_of_n`` and gets both figures.
What has no text in the catalogues is told as it is.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.catalogue import Catalogue

# How Python writes an error of the system: its number, what it is called, and the file that it is about.
_NUMBERED: Final = re.compile(r"\[Errno -?\d+\] (?P<called>[^:]+)(?P<about>: .*)?", re.DOTALL)
_FIGURES: Final = re.compile(r"\d+")


def reason_in_words(facts: Mapping[str, object], catalogue: Catalogue) -> str:
    """The ``reason`` of an error with these facts; with the place, where they say a line and a column."""
    kind = f"reasons.setting.{facts.get('kind')}"
    words = catalogue.text(kind).format_map(facts) if catalogue.has(kind) else in_words(str(facts["reason"]), catalogue)
    if facts.get("line") and facts.get("column"):
        return catalogue.text("reasons.at", reason=words, line=facts["line"], column=facts["column"])
    return words


def way_out(facts: Mapping[str, object], catalogue: Catalogue) -> str:
    """What mends a value that was refused for the ``kind`` in these facts; "" where there is nothing special to say."""
    kind = f"reasons.fix.{facts.get('kind')}"
    return catalogue.text(kind).format_map(facts) if catalogue.has(kind) else ""


def in_words(reason: str, catalogue: Catalogue) -> str:
    """``reason`` in the catalogue's language where it has a text for it, else as it is."""
    numbered = _NUMBERED.fullmatch(reason)
    called, about = (numbered["called"], numbered["about"] or "") if numbered else (reason, "")
    by_number = {os.strerror(number): f"reasons.system.{name.lower()}" for number, name in errno.errorcode.items()}
    for key in (by_number.get(called), f"reasons.{letters_of(called)}"):
        if key and catalogue.has(key):
            return catalogue.text(key).format(*_FIGURES.findall(called)) + about
    return reason


def letters_of(reason: str) -> str:
    """What the text of a reason is called: its letters with low lines between, and ``n`` for each figure."""
    return "_".join(re.findall("[a-z]+", _FIGURES.sub(" n ", reason.lower())))
