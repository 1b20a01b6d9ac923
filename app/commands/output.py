"""What the commands write: cleaned text, tables and JSON on stdout, remarks on stderr."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TextIO

from app.commands.errors import OutputUnwritable
from app.terminal_text import clean

# JSON leaves these as they are, and a terminal would obey them.
_UNSAFE_IN_JSON: Final = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NARROWEST_COLUMN: Final = 8
_GAP: Final = "  "
# The standard outputs that something was written to: what fails half way adds no second document to the first.
_begun: list[TextIO] = []


class OutputClosed(Exception):
    """Whoever read our output went away (``enlace chats list | head``)."""


def write(text: str, *, end: str = "\n") -> None:
    """Cleaned ``text`` to stdout, at once."""
    _put(sys.stdout, clean(text) + end)


def write_raw(text: str) -> None:
    """Text that was cleaned already, piece by piece."""
    _put(sys.stdout, text)


def remark(text: str) -> None:
    """A line about the answer that is not the answer, to stderr."""
    _put(sys.stderr, clean(text) + "\n")


def repaint(text: str) -> None:
    """``text``, one line, in the place of what this wrote before; to stderr, which must be a terminal."""
    _put(sys.stderr, f"\r{_one_line(text)}\x1b[K")


def complain(what: str, following: str = "") -> None:
    """What happened and what to do, to stderr."""
    lines = [line for line in (what, following) if line]
    try:
        _put(sys.stderr, clean("\n".join(lines)) + "\n")
    except (OutputClosed, OutputUnwritable):
        # Nobody is left to be told.
        return


def error_as_json(code: str, facts: Mapping[str, object], what: str, following: str) -> dict[str, Any]:
    """An error as every command with ``--json`` prints it, under the key ``error``."""
    return {"code": code, "facts": dict(facts), "what": what, "next": following}


def begun() -> bool:
    """Whether this command has written anything to stdout."""
    return sys.stdout in _begun


def forget_output() -> None:
    """What a command line before this one wrote, in the same process, is none of its own."""
    _begun.clear()


def write_json(value: Any) -> None:
    """``value`` as JSON on stdout, readable by people and harmless to terminals."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    _put(sys.stdout, harmless(text) + "\n")


def harmless(json_text: str) -> str:
    """The same JSON without a character that a terminal would obey."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def write_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns under their heads; the last one is cut to the terminal's width."""
    cells = [[_one_line(str(cell)) for cell in row] for row in rows]
    widths = [max(width(line[column]) for line in [list(heads), *cells]) for column in range(len(heads))]
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(room, _NARROWEST_COLUMN))
    for line in [list(heads), *cells]:
        padded = [fitted(cell, size) for cell, size in zip(line, widths, strict=True)]
        _put(sys.stdout, _GAP.join(padded).rstrip() + "\n")


def width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: wide characters take two, marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def fitted(text: str, size: int) -> str:
    """``text`` in exactly ``size`` columns: filled with blanks, or cut with a sign that says so."""
    if width(text) <= size:
        return text + " " * (size - width(text))
    kept = ""
    for letter in text:
        if width(kept) + width(letter) > size - 1:
            break
        kept += letter
    return kept + "…"


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _put(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    if stream is sys.stdout:
        _begun[:] = [stream]
    try:
        stream.write(text.encode(encoding, errors="replace").decode(encoding))
        stream.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error
    except OSError as error:
        raise OutputUnwritable(reason=error.strerror or str(error)) from error
