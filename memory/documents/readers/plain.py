"""Bytes into text: UTF-8, UTF-16 with its mark, and what older programs wrote."""

from __future__ import annotations

import codecs
import re
from typing import Final

from memory.documents.errors import DocumentEmpty, DocumentNotText
from memory.documents.found import Reading, Remark, Tree
from memory.documents.readers.records import yaml_trees

_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# A text may hold the odd control character; a program or a picture is full of them, and of NULs.
_FEW_CONTROLS: Final = 8
_MOST_CONTROLS: Final = 0.001
_FRONT: Final = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def decoded(content: bytes, form: str) -> tuple[str, tuple[Remark, ...]]:
    """The text, line ends as newlines, and a remark where not all of it was UTF-8. Raises DocumentNotText and Empty."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            body = content if encoding == "utf-16" else content[len(mark) :]
            return _with_newlines(body.decode(encoding, errors="replace"), form), ()
    if b"\0" in content or len(_CONTROLS.findall(content)) > _FEW_CONTROLS + len(content) * _MOST_CONTROLS:
        raise DocumentNotText(format=form)
    try:
        return _with_newlines(content.decode(), form), ()
    except UnicodeDecodeError:
        lines = content.splitlines(keepends=True)
        read = [_line(line) for line in lines]
        others = sum(other for _, other in read)
        remark = Remark("mixed_encodings" if others < len(lines) else "old_encoding", {"lines": others})
        return _with_newlines("".join(text for text, _ in read), form), (remark,)


def read_text(content: bytes) -> Reading:
    """A plain text."""
    text, remarks = decoded(content, "text")
    return Reading(text, remarks=remarks)


def read_markdown(content: bytes) -> Reading:
    """Markdown, with the YAML at its head as a record. Emphasis and links stay as written."""
    text, remarks = decoded(content, "markdown")
    trees: tuple[Tree, ...] = ()
    if front := _FRONT.match(text):
        trees = yaml_trees(front["yaml"], shift=front.start("yaml"))
    return Reading(text, trees=trees, remarks=remarks)


def _with_newlines(text: str, form: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if not plain.strip():
        raise DocumentEmpty(format=form)
    return plain


def _line(line: bytes) -> tuple[str, bool]:
    """A line, and whether it is in the encoding of older Windows programs."""
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace"), True
