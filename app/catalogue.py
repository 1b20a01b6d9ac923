"""The text that people read, in Spanish and English, from ``app/locale/<language>/*.toml``.

A text's key is the file's name and the path inside the file: ``send`` in ``screen.toml`` is ``screen.send``, and
``[help] title`` in the same file is ``screen.help.title``. A file that opens with a table of its own first name keeps
that table as it is, so that a subject may be spread over files: ``[errors.engine_died]`` in ``errors_engine.toml`` is
``errors.engine_died``. Files are read when a key first needs them: an answer on the command line reads none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

LOCALE: Final = Path(__file__).parent / "locale"
LANGUAGES: Final = ("es", "en")
FIRST_LANGUAGE: Final = "es"


def choose_language(
    *, option: str | None = None, member: str | None = None, settings: str | None = None, environ: Mapping[str, str]
) -> str:
    """The language to speak: what the command said, the member's, the household's, the system's; else Spanish.

    Each may be a plain language or a locale's name (``en_GB.UTF-8``); one that is empty or not spoken here is passed
    over.
    """
    system = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), None)
    for wish in (option, member, settings, system):
        language = (wish or "").replace("-", "_").split(".")[0].split("_")[0].lower()
        if language in LANGUAGES:
            return language
    return FIRST_LANGUAGE


class Catalogue:
    """The texts of one language (``es`` or ``en``; anything else is Spanish)."""

    def __init__(self, language: str, folder: Path = LOCALE) -> None:
        self.language = language if language in LANGUAGES else FIRST_LANGUAGE
        self._folder = folder / self.language
        self._subjects: dict[str, dict[str, str]] = {}

    def text(self, key: str, /, **facts: object) -> str:
        """The text of ``key`` with its ``{placeholders}`` filled. Raises KeyError for an unknown key or fact."""
        template = self._subject(key)[key]
        return template.format(**facts) if facts else template

    def count(self, key: str, number: int, /, **facts: object) -> str:
        """``key.one`` or ``key.other``, whichever ``number`` asks for; ``{number}`` is filled."""
        return self.text(f"{key}.one" if number == 1 else f"{key}.other", number=number, **facts)

    def has(self, key: str) -> bool:
        return key in self._subject(key)

    def keys(self) -> set[str]:
        """Every key of this language, all files read."""
        return {key for file in sorted(self._folder.glob("*.toml")) for key in _read(file)}

    def _subject(self, key: str) -> dict[str, str]:
        first = key.split(".", 1)[0]
        if first not in self._subjects:
            files = [self._folder / f"{first}.toml", *sorted(self._folder.glob(f"{first}_*.toml"))]
            self._subjects[first] = {key: text for file in files if file.exists() for key, text in _read(file).items()}
        return self._subjects[first]


def _read(file: Path) -> dict[str, str]:
    """All texts of one file by their full keys."""
    texts: dict[str, str] = {}
    for name, value in tomllib.loads(file.read_text(encoding="utf-8")).items():
        own = isinstance(value, dict) and (file.stem == name or file.stem.startswith(f"{name}_"))
        _flatten(name if own else f"{file.stem}.{name}", value, texts)
    return texts


def _flatten(key: str, value: Any, into: dict[str, str]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _flatten(f"{key}.{name}", inner, into)
    else:
        into[key] = str(value)
