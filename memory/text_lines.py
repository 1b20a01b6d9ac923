"""Files of lines that people bring: what their editors have put before the text is no part of it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from memory.errors import FileUnreadable


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and UTF-8 bytes of each line that is not blank. Raises FileUnreadable."""
    try:
        content = path.read_bytes()
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            content = content.decode("utf-16").encode("utf-8", errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnreadable(path=str(path), reason=getattr(error, "strerror", None) or str(error)) from error
    # Not splitlines(): JSON allows U+2028 inside a string.
    for number, raw in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if raw.strip():
            yield number, raw
