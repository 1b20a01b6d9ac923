"""The SHA-256 of large files, computed once and remembered as long as size and time of change stay."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from configs.home import Home

REMEMBERED = "hashes.json"


def file_sha256(home: Home, path: Path) -> str:
    """The SHA-256 of ``path`` in hex. Raises OSError."""
    facts = path.stat()
    key = [facts.st_size, facts.st_mtime_ns, facts.st_ino]
    known = _remembered(home)
    entry = known.get(str(path))
    if isinstance(entry, dict) and entry.get("key") == key:
        return str(entry["sha256"])
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    known[str(path)] = {"key": key, "sha256": digest}
    _remember(home, known)
    return digest


def _remembered(home: Home) -> dict[str, Any]:
    """What an earlier call found; nothing where the file is missing or not readable as such."""
    try:
        known = json.loads((home.models / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(home: Home, known: dict[str, Any]) -> None:
    with tempfile.NamedTemporaryFile("w", dir=home.models, delete=False, encoding="utf-8") as file:
        json.dump(known, file)
    os.replace(file.name, home.models / REMEMBERED)
