"""The SHA-256 of large files, computed once and remembered as long as size and time of change stay."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
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
    # Where there is no room to remember it, it is computed again the next time.
    with contextlib.suppress(OSError):
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
    aside = home.models / f"{REMEMBERED}.{os.urandom(4).hex()}"
    try:
        aside.write_text(json.dumps(known), encoding="utf-8")
        aside.replace(home.models / REMEMBERED)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
