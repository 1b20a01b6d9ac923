"""Which formats there are, by how a file's name ends."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, get_args

Format = Literal["text", "markdown", "yaml", "json", "pdf", "docx", "ics", "vcf"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
ENDINGS: Final[dict[str, Format]] = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".pdf": "pdf",
    ".docx": "docx",
    ".ics": "ics",
    ".vcf": "vcf",
    ".vcard": "vcf",
}


def format_of(path: Path) -> Format | None:
    """The format of a file by its name; None of one that is not read."""
    return ENDINGS.get(path.suffix.lower())
