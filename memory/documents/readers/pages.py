"""PDF and Word documents into text."""

from __future__ import annotations

import io
import logging
import zipfile
from typing import Final

from memory.documents.errors import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentProblem,
    DocumentSwells,
    ReaderMissing,
)
from memory.documents.found import Reading

_MB: Final = 1_000_000
# What Word's encrypted documents are: an OLE file (MS-CFB 2.2) that holds the document as a whole.
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_pdf(content: bytes, characters: int) -> Reading:
    """The text of every page, up to so many characters. Raises what is wrong with it."""
    try:
        import pypdf
        from pypdf.errors import DependencyError, FileNotDecryptedError
    except ImportError as error:
        raise ReaderMissing(format="pdf", package="pypdf") from error
    # It tells the log of every oddity of a file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentEncrypted
        pages, starts, length = [], [], 0
        for page in reader.pages:
            text = page.extract_text().replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
            starts.append(length)
            pages.append(text)
            length += len(text)
            if length > characters:
                break
    except DocumentProblem:
        raise
    except (DependencyError, FileNotDecryptedError) as error:
        raise DocumentEncrypted from error
    except Exception as error:
        # Whatever a broken file leads to is about the file: IndexError and RecursionError among others.
        raise DocumentDamaged(format="pdf", reason=str(error) or type(error).__name__) from error
    text = "".join(pages)
    if not text.strip():
        raise DocumentEmpty(format="pdf")
    return Reading(text, tuple(starts))


def read_docx(content: bytes, unpacked_mb: int) -> Reading:
    """Paragraphs and tables in their order; a table's rows as lines with bars. Raises what is wrong with it."""
    try:
        import docx
        from docx.table import Table
    except ImportError as error:
        raise ReaderMissing(format="docx", package="python-docx") from error
    if content.startswith(_OLE):
        raise DocumentEncrypted
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Python reads no more of a part than is told here, and refuses one that is longer.
            size = sum(part.file_size for part in archive.infolist())
        if size > unpacked_mb * _MB:
            raise DocumentSwells(size=size // _MB, limit=unpacked_mb)
        lines = []
        for part in docx.Document(io.BytesIO(content)).iter_inner_content():
            if isinstance(part, Table):
                lines += [
                    "| " + " | ".join(" ".join(cell.text.split()) for cell in row.cells) + " |" for row in part.rows
                ]
                lines.append("")
            else:
                lines += [part.text, ""]
    except DocumentProblem:
        raise
    except Exception as error:
        raise DocumentDamaged(format="docx", reason=str(error) or type(error).__name__) from error
    text = "\n".join(lines)
    if not text.strip():
        raise DocumentEmpty(format="docx")
    return Reading(text)
