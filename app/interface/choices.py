"""What the interface remembers of its own from one start to the next: the colours somebody chose."""

from __future__ import annotations

import json

from configs.home import Home
from memory.whole_files import write_whole


def chosen_theme(home: Home, default: str) -> str:
    """``dark`` or ``light``: what was chosen last, else ``default``. A damaged file counts as none."""
    try:
        kept = json.loads(home.interface_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
    theme = kept.get("theme") if isinstance(kept, dict) else None
    return theme if theme in ("dark", "light") else default


def keep_theme(home: Home, theme: str) -> None:
    """Remember the choice. Raises FileNotWritten."""
    write_whole(home.interface_file, json.dumps({"theme": theme}))
