"""The SHA-256 of large files, computed once and remembered as long as size and time of change stay."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from configs.disk import write_whole
from configs.home import Home

REMEMBERED = "hashes.json"


def file_sha256(home: Home, path: Path) -> str:
    """The SHA-256 of ``path`` in hex. Raises OSError."""
    key = _key(path)
    if (known := known_sha256(home, path)) is not None:
        return known
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    remember_sha256(home, path, digest, key)
    return digest


def known_sha256(home: Home, path: Path) -> str | None:
    """The SHA-256 of ``path`` where it was computed before, without reading the file. Raises OSError."""
    entry = _remembered(home).get(str(path))
    return str(entry["sha256"]) if isinstance(entry, dict) and entry.get("key") == _key(path) else None


def remember_sha256(home: Home, path: Path, digest: str, key: list[int] | None = None) -> None:
    """Have ``digest``, which was just computed of ``path``, at hand the next time; ``key``: of the file as it was."""
    # Where there is no room to remember it, it is computed again the next time.
    with contextlib.suppress(OSError):
        _remember(home, _remembered(home) | {str(path): {"key": key or _key(path), "sha256": digest}})


def _key(path: Path) -> list[int]:
    """What changes when the file does. Raises OSError."""
    facts = path.stat()
    return [facts.st_size, facts.st_mtime_ns, facts.st_ino]


def _remembered(home: Home) -> dict[str, Any]:
    """What an earlier call found; nothing where the file is missing or not readable as such."""
    try:
        known = json.loads((home.models / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(home: Home, known: dict[str, Any]) -> None:
    # What is lost in a power cut is found again.
    write_whole(home.models / REMEMBERED, json.dumps(known).encode(), lasting=False)
