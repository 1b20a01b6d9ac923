"""What the tests about the project itself share: its files, its catalogues and its commands."""

from __future__ import annotations

import re
import string
import subprocess
from pathlib import Path

from app.catalogue import Catalogue

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
    """Every text of ``language`` as it stands in the files, placeholders unfilled, by its key."""
    texts = Catalogue(language)
    return {key: texts.text(key) for key in texts.keys()}  # noqa: SIM118 - a catalogue is no dictionary


def placeholders(text: str) -> set[str]:
    """The names in braces of a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def console_lines(name: str) -> list[str]:
    """The commands that a README tells its reader to type, in order."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
