"""What the tests about the project itself share: its files, its catalogues and its commands."""

from __future__ import annotations

import string
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("es", "en")
ROOMS = ("app", "configs", "engine", "memory", "tools", "trainer")


def project_files(*endings: str) -> list[Path]:
    """Files of the project with one of ``endings`` (all, without any): those that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = sorted({ROOT / name for name in listed.stdout.split("\0") if name})
    return [path for path in paths if path.is_file() and (not endings or path.suffix in endings)]


def catalogue(language: str) -> dict[str, str]:
    """Every text of ``language`` with its dotted key, the file's name first."""
    texts: dict[str, str] = {}
    for path in sorted((ROOT / "app" / "locale" / language).glob("*.toml")):
        for key, text in _leaves(tomllib.loads(path.read_text(encoding="utf-8"))):
            texts[f"{path.stem}.{key}"] = text
    return texts


def placeholders(text: str) -> set[str]:
    """The names in braces of a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _leaves(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a TOML table with its dotted key; items of a list are numbered."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield from _leaves({str(number): item for number, item in enumerate(value)}, f"{prefix}{key}.")
        else:
            yield prefix + key, str(value)
